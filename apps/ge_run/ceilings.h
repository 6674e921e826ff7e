// What a device reached once (--measure-ceilings), kept in a text file, and the floor of a launch by it.
// Entry: measure_ceilings_of, keep, kept, floor_us.
//
//   ge-ceilings/1
//   device NVIDIA H200
//   gb_per_s 4021.5
//   launch_us 1.8
//   tflop_per_s_f16 712.3
//
// One `device` and its numbers after another; the file can be reviewed, copied and committed.
#pragma once
#include <optional>
#include <string>

#include "document/writer.h"
#include "ge_run/profile.h"
#include "ge_run/runtime.h"

namespace ge {

struct DeviceCeilings {
  std::string device;  // its name, on a CPU with the number of threads
  ge_ceilings most{};
};
// "NVIDIA H200", "Intel(R) Xeon(R) Processor, 2 threads"; `threads` 0: all that this process may use.
std::string ceilings_name(const ge_device* device, int32_t threads);
Result<DeviceCeilings> measure_ceilings_of(ge_device* device, int32_t threads);
// Where they are kept without --ceilings: ge/ceilings.txt in $XDG_CACHE_HOME or ~/.cache; empty: neither is
// set.
std::string usual_ceilings_file();
// Puts them in the place of this device's former ones; other devices' stay. Makes the file's folder.
// file_unwritable, and what kept() says of the former file.
Status keep(const DeviceCeilings& ceilings, const std::string& file);
// nullopt: the file holds none of this device, or is not there while `optional`. file_not_found,
// bad_format_tag, unknown_key, wrong_json_type with the line.
Result<std::optional<DeviceCeilings>> kept(const std::string& file, const std::string& device, bool optional);

// The least time that the device needs for a launch of these bytes and FLOPs. Bytes that caches still hold
// may take less.
double floor_us(const ProfileRow& row, const ge_ceilings& most);
std::string ceilings_table(const DeviceCeilings& ceilings);
void write_json(DocumentBuilder& b, const DeviceCeilings& ceilings);

}  // namespace ge
