// Functions of your own on the local elements of arrays.
//
// All functions are local: each rank calls the function for its own elements, on the calling thread, in
// memory order; replicas are visited on each rank that holds one. C++ types decide the dtypes: the parameters
// of the function must be those of the arrays (ArgumentError otherwise); for a function with `auto`
// parameters name them, `transform<double>(a, f)`. Arrays in device memory are copied to the host and back,
// after the work on the context's own stream: for large arrays use <partita/functions.hpp>. Partial arrays
// are ArgumentErrors.
#pragma once

#include <array>
#include <functional>
#include <partita/array.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {
/// The parameter types of functions and of objects with one operator().
template <class F>
struct ParametersOf : ParametersOf<decltype(&F::operator())> {};
template <class Result, class... Parameters>
struct ParametersOf<Result (*)(Parameters...)> {
  using type = std::tuple<Parameters...>;
};
template <class Result, class... Parameters>
struct ParametersOf<Result(Parameters...)> : ParametersOf<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...)> : ParametersOf<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) const> : ParametersOf<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) noexcept> : ParametersOf<Result (*)(Parameters...)> {};
template <class Class, class Result, class... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...) const noexcept>
    : ParametersOf<Result (*)(Parameters...)> {};
template <class F, std::size_t number>
using Parameter = std::tuple_element_t<number, typename ParametersOf<std::decay_t<F>>::type>;

/// A run of elements of several arrays: first elements, and distances in elements.
struct ElementRun {
  std::int64_t count = 0;
  void* const* first = nullptr;
  const std::int64_t* strides = nullptr;
};
/// Calls `body` for runs that together are the local parts of arrays with equivalent layouts. The first array
/// is written if `writes`. Throws ArgumentError if contexts or layouts differ.
PARTITA_API void for_each_run(std::string_view operation, std::span<const Array> arrays, bool writes,
                              const std::function<void(const ElementRun&)>& body);

template <class T, class F>
void for_each_of(std::string_view operation, const Array& array, bool writes, const F& visit) {
  (void)array.data<T>();
  for_each_run(operation, {&array, 1}, writes, [&](const ElementRun& run) {
    T* element = static_cast<T*>(run.first[0]);
    for (std::int64_t i = 0; i < run.count; ++i, element += run.strides[0]) visit(*element);
  });
}

template <class Out, class... In, class F, std::size_t... number>
void transform_into(Array& destination, F& f, const std::array<Array, sizeof...(In) + 1>& arrays,
                    std::index_sequence<number...> /*operands*/) {
  (void)destination.data<Out>();
  ((void)arrays[number + 1].template data<In>(), ...);
  for_each_run("transform", arrays, true, [&](const ElementRun& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      static_cast<Out*>(run.first[0])[i * run.strides[0]] =
          std::invoke(f, static_cast<const In*>(run.first[number + 1])[i * run.strides[number + 1]]...);
    }
  });
}

template <class F, class Numbers, class... Arrays>
struct OperandTypes;
template <class F, std::size_t... number, class... Arrays>
struct OperandTypes<F, std::index_sequence<number...>, Arrays...> {
  static void transform(Array& destination, F& f, const Arrays&... arrays) {
    using Result =
        std::remove_cvref_t<std::invoke_result_t<F&, std::remove_cvref_t<Parameter<F, number>>&...>>;
    transform_into<Result, std::remove_cvref_t<Parameter<F, number>>...>(
        destination, f, {destination, arrays...}, std::index_sequence<number...>());
  }
};
}  // namespace detail

/// Calls f(element) for every local element: `for_each(a, [](double& x) { x *= 2; })`. With a parameter that
/// is not a reference, or a const one, the array is only read.
template <class F>
void for_each(const Array& array, F f) {
  using Element = detail::Parameter<F, 0>;
  using T = std::remove_cvref_t<Element>;
  constexpr bool writes =
      std::is_lvalue_reference_v<Element> && !std::is_const_v<std::remove_reference_t<Element>>;
  detail::for_each_of<T>("for_each", array, writes, [&](T& element) { std::invoke(f, element); });
}
template <class T, class F>
void for_each(const Array& array, F f) {
  detail::for_each_of<T>("for_each", array, true, [&](T& element) { std::invoke(f, element); });
}

/// array[i] = f(array[i])
template <class T, class F>
requires std::is_invocable_v<F&, T&>
void transform(const Array& array, F f) {
  detail::for_each_of<T>("transform", array, true, [&](T& element) { element = std::invoke(f, element); });
}
template <class F>
requires(!std::is_convertible_v<F, Array>) void transform(const Array& array, F f) {
  transform<std::remove_cvref_t<detail::Parameter<F, 0>>>(array, std::move(f));
}

/// destination[i] = f(a[i], b[i], ...). The layouts must be equivalent; nothing is broadcast. The result of f
/// must have the destination's dtype. The destination may be an operand itself.
template <class F, class... Arrays>
requires(sizeof...(Arrays) > 0 && (std::is_same_v<Arrays, Array> &&
                                   ...)) void transform(Array& destination, F f, const Arrays&... arrays) {
  detail::OperandTypes<F, std::index_sequence_for<Arrays...>, Arrays...>::transform(destination, f,
                                                                                    arrays...);
}

}  // namespace partita
