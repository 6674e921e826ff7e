// The table of rows itself: sorted, described soundly, every CPU row with its function.
#include <algorithm>

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
    if (rows[i].device == KernelDevice::kCuda && rows[i].kind == KernelKind::kBuiltin)
      REQUIRE_FALSE((rows[i].symbol.empty() || rows[i].image.empty()));
  }
  REQUIRE(find_kernel_row("no_such_kernel", 1) == nullptr);
  REQUIRE(cpu_entry("no_such_kernel") == nullptr);
}

TEST_CASE("every CUDA row's image is embedded for every architecture of the build, or none is") {
  const auto images = embedded_images();
  if (images.empty()) GE_SKIP("this build has no CUDA");
  std::vector<int32_t> archs;
  for (const EmbeddedImage& image : images) {
    if (std::find(archs.begin(), archs.end(), image.arch) == archs.end()) archs.push_back(image.arch);
  }
  for (const KernelRow& row : kernel_rows()) {
    if (row.image.empty()) continue;
    for (const int32_t arch : archs) {
      INFO(row.name << " sm_" << arch);
      const auto found = std::find_if(images.begin(), images.end(), [&](const EmbeddedImage& i) {
        return i.name == row.image && i.arch == arch;
      });
      REQUIRE(found != images.end());
      const std::string_view bytes(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
      REQUIRE(bytes.substr(0, 4) ==
              "\x7f"
              "ELF");
      REQUIRE(bytes.find(".text." + std::string(row.symbol)) != std::string_view::npos);
    }
  }
}

}  // namespace ge::test
