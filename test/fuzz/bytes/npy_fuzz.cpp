// npy bytes: what is read can be written, and reads back as the same bytes.
#include <algorithm>

#include "fuzz_target.h"
#include "tensor_file/npy.h"

using namespace ge;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensor = read_npy(test::input_bytes(data, size), "input.npy");
  if (!tensor.ok()) return 0;
  test::promise(tensor->bytes.size() <= size, "no tensor is larger than its file");
  const auto written = write_npy(span_of(*tensor));
  if (!written.ok()) return 0;  // no npy type to write it as
  const auto again = read_npy(written->span(), "again.npy");
  test::promise(again.ok() && again->dims == tensor->dims && again->dtype == tensor->dtype &&
                    std::ranges::equal(again->bytes.span(), tensor->bytes.span()),
                "what was written reads back the same");
  return 0;
}
