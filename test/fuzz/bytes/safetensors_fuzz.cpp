// safetensors bytes: entries lie inside the file; every one of them reads, and what is written again reads
// back.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "fuzz_target.h"
#include "tensor_file/safetensors.h"

using namespace ge;

namespace {

// The bytes as a file that has no name on disk.
Result<File> file_of(ByteSpan bytes) {
  const int descriptor = memfd_create("input", MFD_CLOEXEC);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n <= 0) std::abort();
    done += static_cast<size_t>(n);
  }
  auto file = File::open("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = file_of(test::input_bytes(data, size));
  if (!file.ok()) return 0;
  const auto tensors = SafetensorsFile::open(std::move(*file));
  if (!tensors.ok()) return 0;
  std::vector<HostTensor> kept;
  std::vector<NamedTensor> named;
  kept.reserve(tensors->entries().size());
  for (const SafetensorsEntry& e : tensors->entries()) {
    auto tensor = tensors->read(e.name);
    test::promise(tensor.ok(), "an entry that open() accepted reads");
    test::promise(tensor->bytes.size() == static_cast<size_t>(e.size_bytes), "with the size that it said");
    kept.push_back(std::move(*tensor));
    named.push_back({e.name, span_of(kept.back())});
  }
  const auto written = write_safetensors(named, tensors->metadata());
  if (!written.ok()) return 0;
  auto second = file_of(written->span());
  const auto again = SafetensorsFile::open(std::move(*second));
  test::promise(again.ok() && again->entries().size() == kept.size(), "what was written opens");
  for (const NamedTensor& t : named) {
    const auto tensor = again->read(t.name);
    test::promise(tensor.ok() && std::ranges::equal(tensor->bytes.span(), t.tensor.bytes),
                  "and holds the same tensors");
  }
  return 0;
}
