// A first look at CBOR, before nlohmann reads it. Private to lib/document. Entry: scan_cbor.
#pragma once
#include "document/tree.h"

namespace ge {

// Checks that `bytes` is one well-formed value within the limits, of the kinds that parse_cbor names, without
// recursion and without memory beyond the nesting. nlohmann's reader recurses on nested containers and on
// nested indefinite strings, and lets integers below -2^63 wrap: what passes here cannot do either.
Status scan_cbor(ByteSpan bytes, const std::string& name, const DocumentLimits& limits);

}  // namespace ge
