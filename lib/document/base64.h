// Base64 (RFC 4648, with padding). Entry: base64_encode, base64_decode.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace ge {

std::string base64_encode(ByteSpan bytes);
// nullopt where a character, the length, the padding or the unused bits are not as the encoder writes them.
// White space is not skipped.
std::optional<ByteBuffer> base64_decode(std::string_view text);

}  // namespace ge
