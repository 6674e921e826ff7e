// Pieces of IR text that printing and parsing share: names, strings, numbers and elements of constants.
// Invariant: what element_text gives, parse_element reads back to the same bits.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace ge {

bool starts_ir_name(char c);
bool continues_ir_name(char c);
bool is_plain_ir_name(std::string_view name);  // may stand after % without quotes
std::string quoted(std::string_view text);     // "a\"b\n" with the quotes
std::string element_text(DType dtype, const void* data,
                         int64_t index);  // "0x7fc00001" for a NaN that is not the usual one
// Stores the element; false where the word is no value of this type.
bool parse_element(DType dtype, std::string_view word, void* data, int64_t index);
std::optional<double> parse_double(std::string_view word);
std::optional<int64_t> parse_int(std::string_view word);

}  // namespace ge
