// Binds a plan's program for a device that is not here: all that load and bind check but memory and the
// driver. Shows whether generated GPU code fits the views it would be launched with. Entry:
// bind_without_device.
#pragma once
#include <map>
#include <string>

#include "base/bytes.h"

namespace ge::test {

// `file`: a plan. `values`: by symbol; those not named take `opt`. What was refused, or nothing.
std::string bind_without_device(ByteSpan file, const std::string& target,
                                const std::map<std::string, int64_t>& values);

}  // namespace ge::test
