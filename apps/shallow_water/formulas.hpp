// What one cell adds to the step, from its own numbers and those around it: for the host's rows and for the
// threads of devices. Letters as in ocean.hpp; n, e, s, w: of the cell to the north, and so on.
#pragma once

#include "device/host_device.hpp"

namespace shallow_water::formulas {

/// h u in the middle of a face, and h v.
template <class T>
HOST_AND_DEVICE T flux(T h, T h_behind, T velocity) {
  return T(0.5) * (h + h_behind) * velocity;
}

/// q on the cell's corner in the north-east; f: Coriolis.
template <class T>
HOST_AND_DEVICE T vorticity(T f, T h, T h_e, T h_n, T h_ne, T u, T u_n, T v, T v_e, T per_cell) {
  const T relative = ((v_e - v) - (u_n - u)) * per_cell;
  return (f + relative) / (T(0.25) * ((h + h_e) + (h_n + h_ne)));
}

/// g h + (u^2 + v^2) / 2 in the cell's middle.
template <class T>
HOST_AND_DEVICE T energy(T g, T h, T u, T u_w, T v, T v_s) {
  return g * h + T(0.25) * ((u * u + u_w * u_w) + (v * v + v_s * v_s));
}

template <class T>
HOST_AND_DEVICE T rate_of_height(T hu_w, T hu, T hv_s, T hv, T per_cell) {
  return ((hu_w - hu) + (hv_s - hv)) * per_cell;
}

/// du/dt and dv/dt before friction: `turned` is q (flux + flux) on one side, `turned_behind` on the other.
template <class T>
HOST_AND_DEVICE T rate_of_east(T energy, T energy_e, T turned, T turned_s, T per_cell) {
  return (energy - energy_e) * per_cell + T(0.25) * (turned + turned_s);
}
template <class T>
HOST_AND_DEVICE T rate_of_north(T energy, T energy_n, T turned, T turned_w, T per_cell) {
  return (energy - energy_n) * per_cell - T(0.25) * (turned + turned_w);
}

/// Adams and Bashforth.
template <class T>
HOST_AND_DEVICE T stepped(T value, T rate, T rate_before, T newest, T before) {
  return value + newest * rate + before * rate_before;
}

/// What friction adds to a velocity from its row.
template <class T>
HOST_AND_DEVICE T friction_along(T value, T west, T east, T rate) {
  return rate * ((east - value) - (value - west));
}
/// Rates are 0 through a wall.
template <class T>
HOST_AND_DEVICE T friction_across(T value, T south, T north, T to_south, T to_north) {
  return to_north * (north - value) - to_south * (value - south);
}

}  // namespace shallow_water::formulas
