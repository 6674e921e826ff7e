#include "ge_run/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "common/table.h"
#include "platform/file.h"
#include "platform/thread_pool.h"

namespace ge {
namespace {

constexpr std::string_view kTag = "ge-ceilings/1";
constexpr std::string_view kDevice = "device ";
constexpr int64_t kMostBytes = 1 << 20;

struct Field {
  std::string_view key;
  double ge_ceilings::*value;
  std::string_view meaning;
};
constexpr std::array<Field, 5> kFields{{
    {"gb_per_s", &ge_ceilings::gb_per_s, "GB/s, a copy's reads and writes"},
    {"launch_us", &ge_ceilings::launch_us, "us, the shortest launch"},
    {"tflop_per_s_f32", &ge_ceilings::tflop_per_s_f32, "TFLOP/s, float32 products"},
    {"tflop_per_s_f16", &ge_ceilings::tflop_per_s_f16, "TFLOP/s, float16 products"},
    {"tflop_per_s_bf16", &ge_ceilings::tflop_per_s_bf16, "TFLOP/s, bfloat16 products"},
}};

std::string text_of(const DeviceCeilings& c) {
  std::string text = std::string(kDevice) + c.device + "\n";
  for (const Field& f : kFields) text += std::string(f.key) + " " + double_text(c.most.*f.value) + "\n";
  return text;
}

Result<std::vector<DeviceCeilings>> parse(const std::string& file, std::string_view text) {
  std::vector<DeviceCeilings> devices;
  int number = 0;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    at = end + 1;
    const std::string place = file + ":" + std::to_string(number + 1);
    if (number == 0 && line != kTag)
      return fail(Code::bad_format_tag)
          .at(place)
          .because("found " + quoted_line(line) + ", allowed \"" + std::string(kTag) + "\"")
          .try_("name a file that ge-run --measure-ceilings wrote");
    if (number == 0 || line.empty()) continue;
    if (line.rfind(kDevice, 0) == 0) {
      devices.push_back({line.substr(kDevice.size()), {}});
      continue;
    }
    const size_t space = line.find(' ');
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const Field& f) { return f.key == line.substr(0, space); });
    if (devices.empty() || field == kFields.end())
      return fail(Code::unknown_key).at(place).because(quoted_line(line));
    char* rest = nullptr;
    const std::string digits = space == line.npos ? "" : line.substr(space + 1);
    const double value = std::strtod(digits.c_str(), &rest);
    if (digits.empty() || *rest != '\0' || !std::isfinite(value) || value < 0)
      return fail(Code::wrong_json_type)
          .at(place)
          .because("found " + quoted_line(digits) + ", allowed a number from 0 up");
    devices.back().most.*field->value = value;
  }
  return devices;
}

// `optional`: none where the file is not there.
Result<std::vector<DeviceCeilings>> read(const std::string& file, bool optional) {
  auto bytes = read_file(file, kMostBytes);
  if (!bytes.ok() && optional && bytes.error().first().code == Code::file_not_found)
    return std::vector<DeviceCeilings>();
  if (!bytes.ok()) return std::move(bytes).take_error();
  return parse(file, as_text(bytes->span()));
}

// All on the way to the file.
Status make_folders(const std::string& file) {
  for (size_t at = file.find('/', 1); at != file.npos; at = file.find('/', at + 1))
    GE_TRY(make_folder(file.substr(0, at)));
  return {};
}

double peak_of(DType dtype, const ge_ceilings& most) {
  switch (dtype) {
    case DType::float32:
      return most.tflop_per_s_f32;
    case DType::float16:
      return most.tflop_per_s_f16;
    case DType::bfloat16:
      return most.tflop_per_s_bf16;
    default:
      return 0;
  }
}

}  // namespace

std::string ceilings_name(const ge_device* device, int32_t threads) {
  const std::string name = visible_line(ge_device_name(device));
  if (ge_device_get_kind(device) == GE_DEVICE_CUDA) return name;
  return name + ", " + counted(threads > 0 ? threads : default_thread_count(), "thread", "threads");
}

Result<DeviceCeilings> measure_ceilings_of(ge_device* device, int32_t threads) {
  DeviceCeilings found{ceilings_name(device, threads), {}};
  found.most.size = sizeof found.most;
  GE_TRY(status_of(ge_device_measure_ceilings(device, &found.most)));
  return found;
}

std::string usual_ceilings_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/ge/ceilings.txt";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/ge/ceilings.txt";
}

Status keep(const DeviceCeilings& ceilings, const std::string& file) {
  GE_ASSIGN(std::vector<DeviceCeilings> devices, read(file, true));
  std::erase_if(devices, [&](const DeviceCeilings& d) { return d.device == ceilings.device; });
  devices.push_back(ceilings);
  std::string text = std::string(kTag) + "\n";
  for (const DeviceCeilings& d : devices) text += text_of(d);
  GE_TRY(make_folders(file));
  return write_file(file, as_bytes(text));
}

Result<std::optional<DeviceCeilings>> kept(const std::string& file, const std::string& device,
                                           bool optional) {
  GE_ASSIGN(const std::vector<DeviceCeilings> devices, read(file, optional));
  for (const DeviceCeilings& d : devices)
    if (d.device == device) return std::optional(d);
  return std::optional<DeviceCeilings>();
}

double floor_us(const ProfileRow& row, const ge_ceilings& most) {
  const double peak = peak_of(row.dtype, most);
  return std::max({most.launch_us, most.gb_per_s > 0 ? row.bytes / most.gb_per_s / 1e3 : 0,
                   peak > 0 ? row.flops / peak / 1e6 : 0});
}

std::string ceilings_table(const DeviceCeilings& ceilings) {
  Table table({visible_line(ceilings.device), ">ceiling", "of"});
  for (const Field& f : kFields) {
    const double value = ceilings.most.*f.value;
    table.add({"", value > 0 ? number_text(value) : "-", std::string(f.meaning)});
  }
  return table.text();
}

void write_json(DocumentBuilder& b, const DeviceCeilings& ceilings) {
  b.begin_object().member("device", ceilings.device);
  for (const Field& f : kFields) b.member(f.key, ceilings.most.*f.value);
  b.end_object();
}

}  // namespace ge
