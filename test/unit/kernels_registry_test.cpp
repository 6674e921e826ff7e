// The table of rows itself: described soundly, every CPU row with its function, every row with a test.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "kernels_harness.h"

namespace ge::test {
namespace {

std::string family_of(std::string_view name) {
  return std::string(name.substr(0, name.find('_')));
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The strings of the sources in which kernels are tested, as words.
std::set<std::string> words_of_tests() {
  std::set<std::string> words;
  for (const char* folder : {"unit", "gpu", "ops"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(GE_SOURCE_DIR) + "/test/" + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      std::string word;
      for (char c = 0; file.get(c);) {
        if (is_word(c)) {
          word += c;
        } else if (!word.empty()) {
          words.insert(std::move(word));
          word.clear();
        }
      }
    }
  }
  return words;
}

}  // namespace

TEST_CASE("kernel rows are sound and found by name and revision") {
  const auto rows = kernel_rows();
  REQUIRE(rows.size() > 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].name);
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

TEST_CASE("every kernel row is named by a test") {
  const std::set<std::string> words = words_of_tests();
  for (const KernelRow& row : kernel_rows()) {
    INFO(row.name << " stands in no source of test/unit, test/gpu or test/ops: nothing calls it by name");
    CHECK(words.count(std::string(row.name)) == 1);
  }
}

TEST_CASE("shares of a device's figures are shares, and preferences name a row beside") {
  for (const KernelRow& row : kernel_rows()) {
    INFO(row.name);
    CHECK((row.efficiency.of_peak > 0 && row.efficiency.of_peak <= 1));
    CHECK((row.efficiency.of_bandwidth > 0 && row.efficiency.of_bandwidth <= 1));
    std::set<std::string_view> passed;
    for (const KernelRow* at = &row; !at->preferred_over.empty();) {
      INFO(at->name << " is preferred over \"" << at->preferred_over << "\"");
      const KernelRow* other = find_kernel_row(at->preferred_over);
      REQUIRE(other != nullptr);
      REQUIRE(passed.insert(at->name).second);  // no circle
      CHECK((other->device == at->device && family_of(other->name) == family_of(at->name)));
      at = other;
    }
  }
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
