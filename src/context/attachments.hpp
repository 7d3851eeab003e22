// What operations keep in a context besides plans.
#pragma once

#include <memory>
#include <typeindex>
#include <unordered_map>

namespace partita::contexts {

/// One object of each type, until the context is closed or destroyed. They must not own the context.
class Attachments {
 public:
  /// The object of this type; if there is none, what `make` returns, a std::shared_ptr<Type>, is kept. What
  /// `make` throws leaves none.
  template <class Type, class Make>
  Type& get(const Make& make) {
    const std::type_index type(typeid(Type));
    auto found = all_.find(type);
    if (found == all_.end()) {
      std::shared_ptr<Type> made = make();
      found = all_.emplace(type, std::move(made)).first;
    }
    return *static_cast<Type*>(found->second.get());
  }
  template <class Type>
  Type& get() {
    return get<Type>([] { return std::make_shared<Type>(); });
  }
  void clear() { all_.clear(); }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> all_;
};

}  // namespace partita::contexts
