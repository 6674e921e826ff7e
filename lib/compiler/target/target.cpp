#include "compiler/target/target.h"

namespace ge {
namespace {
constexpr Target kTargets[] = {
#define GE_TARGET(name, ...) {#name, __VA_ARGS__},
#include "compiler/target/targets.def"
#undef GE_TARGET
};
}  // namespace

std::span<const Target> all_targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  for (const Target& t : kTargets)
    if (t.name == name) return &t;
  return nullptr;
}

}  // namespace ge
