// Catch2 2.13 and 3.x behind one include. Tests include only this.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
using Catch::Approx;
// Version 3's names for what both versions have.
namespace ge::test {
inline auto contains(const std::string& text) {
  return Catch::Matchers::ContainsSubstring(text);
}
inline auto starts_with(const std::string& text) {
  return Catch::Matchers::StartsWith(text);
}
inline auto ends_with(const std::string& text) {
  return Catch::Matchers::EndsWith(text);
}
}  // namespace ge::test
#else
#include <catch2/catch.hpp>
namespace ge::test {
inline auto contains(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
inline auto starts_with(const std::string& text) {
  return Catch::Matchers::StartsWith(text);
}
inline auto ends_with(const std::string& text) {
  return Catch::Matchers::EndsWith(text);
}
}  // namespace ge::test
#endif
// A test that cannot run here must say so: SKIP ends it as skipped (3.3 and later), or as a loud warning.
#if defined(SKIP)
#define GE_SKIP(reason) SKIP(reason)
#else
#define GE_SKIP(reason)          \
  do {                           \
    WARN("skipped: " << reason); \
    return;                      \
  } while (false)
#endif
// REQUIRE that a Status or Result is ok, printing its error where it is not.
#define REQUIRE_OK(expression)                                                \
  do {                                                                        \
    const auto& ge_checked = (expression);                                    \
    INFO((ge_checked.ok() ? std::string() : ge_checked.error().to_string())); \
    REQUIRE(ge_checked.ok());                                                 \
  } while (false)
// REQUIRE that a Status or Result failed with `expected` as the code of its first diagnostic.
#define REQUIRE_CODE(expression, expected)                                                    \
  do {                                                                                        \
    const auto& ge_checked = (expression);                                                    \
    REQUIRE_FALSE(ge_checked.ok());                                                           \
    INFO(ge_checked.error().to_string());                                                     \
    REQUIRE(static_cast<int>(ge_checked.error().first().code) == static_cast<int>(expected)); \
  } while (false)
