// Source files of this repository that travel inside the compiler. Entry: embedded_text. Made by
// cmake/GeEmbedText.cmake.
#pragma once
#include <string_view>

namespace ge {

std::string_view embedded_text(std::string_view path);  // "kernels/scalar.h"; "" where it is not embedded

}  // namespace ge
