// A flat universe of cold matter, baryons and a cosmological constant: how it expands, how structure grows in
// it, and the linear power spectrum. Times are in units of 1/H0, a is the scale factor (1 today).
#pragma once

#include <vector>

namespace density {

/// Planck 2018 (arXiv:1807.06209, table 2, with BAO), rounded.
struct Cosmology {
  double matter = 0.3111;       ///< density of matter over the critical one, today
  double baryons = 0.0490;      ///< a part of the matter
  double hubble = 0.6766;       ///< H0 / (100 km/s/Mpc)
  double index = 0.9665;        ///< of the primordial spectrum
  double sigma8 = 0.8102;       ///< of linear fluctuations today, in spheres of 8 Mpc/h
  double temperature = 2.7255;  ///< of the microwave background, in kelvin

  double expansion(double a) const;            ///< H(a) / H0
  double growth(double a) const;               ///< D(a) of linear fluctuations, 1 today
  double growth_rate(double a) const;          ///< d ln D / d ln a
  double drift(double from, double to) const;  ///< the integral of dt / a^2
  double kick(double from, double to) const;   ///< the integral of dt / a
};

/// The matter transfer function of Eisenstein and Hu (1998, ApJ 496, 605), with baryon oscillations,
/// equations 2 to 24; k in h/Mpc.
double transfer(const Cosmology& cosmology, double k);

/// The linear power spectrum today in (Mpc/h)^3, k in h/Mpc; tabulated.
class LinearSpectrum {
 public:
  explicit LinearSpectrum(const Cosmology& cosmology);
  double operator()(double k) const;

 private:
  std::vector<double> logarithms_;  // of the spectrum, evenly spaced in ln k
};

}  // namespace density
