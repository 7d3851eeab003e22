#include "density/cosmology.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace density {
namespace {

/// Simpson's rule.
template <class F>
double integral(const F& f, double from, double to, int intervals) {
  const double step = (to - from) / intervals;
  double sum = f(from) + f(to);
  for (int i = 1; i < intervals; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(from + i * step);
  return sum * step / 3;
}

double cube(double x) {
  return x * x * x;
}

/// The integral of da / (a E)^3 from 0 to a (Heath 1977), with a = x^2, which makes it smooth at 0.
double heath(const Cosmology& cosmology, double a) {
  const double lambda = 1 - cosmology.matter;
  const auto integrand = [&](double x) {
    return 2 * x * cube(x) / std::pow(cosmology.matter + lambda * cube(x * x), 1.5);
  };
  return integral(integrand, 0, std::sqrt(a), 512);
}

/// Of the CMB's temperature, over 2.7 K.
double theta(const Cosmology& cosmology) {
  return cosmology.temperature / 2.7;
}

/// Equation 19, with C of equation 20.
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386 / (1 + 69.9 * std::pow(q, 1.08));
  const double logarithm = std::log(std::numbers::e + 1.8 * beta * q);
  return logarithm / (logarithm + c * q * q);
}

/// What the transfer function takes from the early universe; lengths in Mpc, without h.
struct EarlyUniverse {
  double omega, omega_baryons, fraction;  // of matter and baryons times h^2; baryons in matter
  double z_equality, k_equality;          // equations 2, 3
  double z_drag, r_drag, sound, k_silk;   // equations 4 to 7

  explicit EarlyUniverse(const Cosmology& c)
      : omega(c.matter * c.hubble * c.hubble),
        omega_baryons(c.baryons * c.hubble * c.hubble),
        fraction(c.baryons / c.matter) {
    const double warmth = theta(c);
    z_equality = 2.5e4 * omega / std::pow(warmth, 4);
    k_equality = 7.46e-2 * omega / (warmth * warmth);
    const double b1 = 0.313 * std::pow(omega, -0.419) * (1 + 0.607 * std::pow(omega, 0.674));
    const double b2 = 0.238 * std::pow(omega, 0.223);
    z_drag = 1291 * std::pow(omega, 0.251) / (1 + 0.659 * std::pow(omega, 0.828)) *
             (1 + b1 * std::pow(omega_baryons, b2));
    const auto ratio = [&](double z) { return 31.5 * omega_baryons / std::pow(warmth, 4) * 1e3 / z; };
    r_drag = ratio(z_drag);
    const double r_equality = ratio(z_equality);
    sound = 2 / (3 * k_equality) * std::sqrt(6 / r_equality) *
            std::log((std::sqrt(1 + r_drag) + std::sqrt(r_drag + r_equality)) / (1 + std::sqrt(r_equality)));
    k_silk =
        1.6 * std::pow(omega_baryons, 0.52) * std::pow(omega, 0.73) * (1 + std::pow(10.4 * omega, -0.95));
  }
};

/// Equations 9 to 12, 17, 18.
double cold_transfer(const EarlyUniverse& early, double k, double q) {
  const double a1 = std::pow(46.9 * early.omega, 0.670) * (1 + std::pow(32.1 * early.omega, -0.532));
  const double a2 = std::pow(12.0 * early.omega, 0.424) * (1 + std::pow(45.0 * early.omega, -0.582));
  const double alpha = std::pow(a1, -early.fraction) * std::pow(a2, -cube(early.fraction));
  const double b1 = 0.944 / (1 + std::pow(458 * early.omega, -0.708));
  const double b2 = std::pow(0.395 * early.omega, -0.0266);
  const double beta = 1 / (1 + b1 * (std::pow(1 - early.fraction, b2) - 1));
  const double mix = 1 / (1 + std::pow(k * early.sound / 5.4, 4));
  return mix * pressureless(q, 1, beta) + (1 - mix) * pressureless(q, alpha, beta);
}

/// Equations 14, 15, 21 to 24.
double baryon_transfer(const EarlyUniverse& early, double k, double q) {
  const double y = (1 + early.z_equality) / (1 + early.z_drag), root = std::sqrt(1 + y);
  const double g = y * (-6 * root + (2 + 3 * y) * std::log((root + 1) / (root - 1)));
  const double alpha = 2.07 * early.k_equality * early.sound * std::pow(1 + early.r_drag, -0.75) * g;
  const double beta =
      0.5 + early.fraction + (3 - 2 * early.fraction) * std::sqrt(std::pow(17.2 * early.omega, 2) + 1);
  const double node = 8.41 * std::pow(early.omega, 0.435);
  const double ks = k * early.sound;
  const double phase = ks / std::cbrt(1 + cube(node / ks));
  const double amplitude = pressureless(q, 1, 1) / (1 + std::pow(ks / 5.2, 2)) +
                           alpha / (1 + cube(beta / ks)) * std::exp(-std::pow(k / early.k_silk, 1.4));
  return amplitude * std::sin(phase) / phase;
}

double transfer_of(const EarlyUniverse& early, double hubble, double k) {
  const double per_mpc = k * hubble, q = per_mpc / (13.41 * early.k_equality);
  return early.fraction * baryon_transfer(early, per_mpc, q) +
         (1 - early.fraction) * cold_transfer(early, per_mpc, q);
}

constexpr double lowest = -11.5, highest = 7;  // ln k of the table: 1e-5 to 1100 h/Mpc
constexpr int points = 8192;
constexpr double spacing = (highest - lowest) / (points - 1);

}  // namespace

double Cosmology::expansion(double a) const {
  return std::sqrt(matter / cube(a) + 1 - matter);
}

double Cosmology::growth(double a) const {
  return expansion(a) * heath(*this, a) / heath(*this, 1);
}

double Cosmology::growth_rate(double a) const {
  const double e = expansion(a);
  return -1.5 * matter / (cube(a) * e * e) + a / (cube(a * e) * heath(*this, a));
}

// dt = d ln a / E
double Cosmology::drift(double from, double to) const {
  const auto integrand = [&](double x) { return std::exp(-2 * x) / expansion(std::exp(x)); };
  return integral(integrand, std::log(from), std::log(to), 64);
}

double Cosmology::kick(double from, double to) const {
  const auto integrand = [&](double x) { return std::exp(-x) / expansion(std::exp(x)); };
  return integral(integrand, std::log(from), std::log(to), 64);
}

double transfer(const Cosmology& cosmology, double k) {
  return transfer_of(EarlyUniverse(cosmology), cosmology.hubble, k);
}

LinearSpectrum::LinearSpectrum(const Cosmology& cosmology) : logarithms_(points) {
  const EarlyUniverse early(cosmology);
  const auto unscaled = [&](double k) {
    return std::pow(k, cosmology.index) * std::pow(transfer_of(early, cosmology.hubble, k), 2);
  };
  // sigma8^2: the integral of k^3 P W^2 / (2 pi^2) over ln k, W the transform of a sphere.
  const double radius = 8;
  const auto integrand = [&](double ln_k) {
    const double k = std::exp(ln_k), x = k * radius;
    const double window = 3 * (std::sin(x) - x * std::cos(x)) / cube(x);
    return cube(k) * unscaled(k) * window * window / (2 * std::numbers::pi * std::numbers::pi);
  };
  const double variance = integral(integrand, std::log(1e-4), std::log(20.), 4096);
  const double scale = std::log(cosmology.sigma8 * cosmology.sigma8 / variance);
  for (int i = 0; i < points; ++i) {
    logarithms_[static_cast<std::size_t>(i)] = scale + std::log(unscaled(std::exp(lowest + i * spacing)));
  }
}

double LinearSpectrum::operator()(double k) const {
  const double at = std::clamp((std::log(k) - lowest) / spacing, 0.0, points - 1.000001);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(below);
  return std::exp((1 - part) * logarithms_[below] + part * logarithms_[below + 1]);
}

}  // namespace density
