#include "ge_inspect/inspect.h"

#include "base/text.h"
#include "common/report.h"
#include "contract/plan_json.h"
#include "contract/plan_print.h"
#include "contract/plan_verify.h"
#include "platform/file.h"

namespace ge {
namespace {

int print(const std::string& text) {
  const Status status = write_stdout(as_bytes(text));
  return status.ok() ? 0 : report(status.error());
}

Result<PlanFile> read_sound(const std::string& path) {
  GE_ASSIGN(PlanFile file, read_plan_file(path));
  Status status = verify_contents(file.plan, file.code.span());
  if (status.ok()) return file;
  Error error = std::move(status).take_error();
  for (Diagnostic& d : error.list()) {
    if (d.place.empty()) d.place = path;
  }
  return error;
}

// Reads every weight, which checks its chunks.
Status check_weights(const PlanFile& file) {
  WeightReader reader(file);
  for (const Blob& blob : file.plan.blobs) {
    ByteBuffer bytes = ByteBuffer::allocate(blob.size_bytes);
    if (bytes.size() != blob.size_bytes) return fail(Code::out_of_memory).at(file.source->name());
    GE_TRY(reader.read(blob, bytes.span()));
  }
  return {};
}

}  // namespace

int show(const std::string& path, bool json) {
  const auto file = read_sound(path);
  if (!file.ok()) return report(file.error());
  return print(json ? plan_json(*file) : print_plan(*file));
}

int verify(const std::string& path) {
  const auto file = read_sound(path);
  if (!file.ok()) return report(file.error());
  const Status weights = check_weights(*file);
  if (!weights.ok()) return report(weights.error());
  return print(visible_line(path) + ": checksums, records, loop programs and weights are sound\n");
}

int diff(const std::string& path_a, const std::string& path_b) {
  const auto a = read_sound(path_a);
  if (!a.ok()) return report(a.error());
  const auto b = read_sound(path_b);
  if (!b.ok()) return report(b.error());
  const PlanDiff found = diff_plans(*a, path_a, *b, path_b);
  if (const int failed = print(found.text)) return failed;
  return found.same ? 0 : exit_code(ErrorKind::kMismatch);
}

}  // namespace ge
