// The table of rows itself: sorted, described soundly, every CPU row with its function.
#include "kernels_harness.h"

namespace ge::test {

TEST_CASE("kernel rows are sorted, sound and found by name and revision") {
  const auto rows = kernel_rows();
  REQUIRE(rows.size() > 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].name);
    REQUIRE((i == 0 || rows[i - 1].name < rows[i].name));
    REQUIRE_OK(check_desc(desc(rows[i])));
    REQUIRE(find_kernel_row(rows[i].name, rows[i].revision) == &rows[i]);
    REQUIRE(find_kernel_row(rows[i].name, rows[i].revision + 1) == nullptr);
    REQUIRE((cpu_entry(rows[i].name) != nullptr) == (rows[i].device == KernelDevice::kCpu));
    REQUIRE_FALSE(rows[i].summary.empty());
    if (rows[i].device == KernelDevice::kCuda) REQUIRE_FALSE((rows[i].symbol.empty() || rows[i].image.empty()));
  }
  REQUIRE(find_kernel_row("no_such_kernel", 1) == nullptr);
  REQUIRE(cpu_entry("no_such_kernel") == nullptr);
}

}  // namespace ge::test
