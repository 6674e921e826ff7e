#include "ge_run/profile.h"

#include <fmt/format.h>

#include "base/text.h"
#include "common/table.h"

namespace ge {
namespace {

double gb_per_s(const ProfileRow& r) {
  return r.time_us > 0 ? r.bytes / r.time_us / 1e3 : 0;
}
double tflop_per_s(const ProfileRow& r) {
  return r.time_us > 0 ? r.flops / r.time_us / 1e6 : 0;
}

std::string times_floor(const ProfileRow& r) {
  return *r.floor_us > 0 ? fmt::format("{:.2f}", r.time_us / *r.floor_us) : "-";
}

}  // namespace

Result<Profile> run_profile(ge_session* session, int32_t iterations) {
  int32_t count = 0;
  GE_TRY(status_of(ge_session_profile(session, iterations, &count)));
  Profile profile;
  for (int32_t i = 0; i < count; ++i) {
    ge_launch_profile entry{};
    entry.size = sizeof entry;
    GE_TRY(status_of(ge_session_profile_entry(session, i, &entry)));
    profile.rows.push_back({entry.kernel, entry.source_nodes, entry.time_us, entry.flops, entry.bytes,
                            static_cast<DType>(entry.dtype), std::nullopt});
    profile.total_us += entry.time_us;
  }
  return profile;
}

std::string profile_table(const Profile& profile) {
  const bool floors = !profile.rows.empty() && profile.rows.front().floor_us;
  std::vector<std::string> headings{"launch", "kernel", ">time us", ">share"};
  if (floors) headings.insert(headings.end(), {">floor us", ">of floor"});
  headings.insert(headings.end(), {">bytes", ">FLOPs", ">GB/s", ">TFLOP/s", "nodes"});
  Table table(std::move(headings));
  const auto add = [&](const std::string& launch, const ProfileRow& r, double share) {
    std::vector<std::string> cells{launch, r.kernel, number_text(r.time_us), fmt::format("{:.1f}%", share)};
    if (floors) cells.insert(cells.end(), {number_text(*r.floor_us), times_floor(r)});
    cells.insert(cells.end(), {human_bytes(r.bytes), number_text(r.flops), number_text(gb_per_s(r)),
                               number_text(tflop_per_s(r)), r.nodes});
    table.add(std::move(cells));
  };
  ProfileRow all{"", "", profile.total_us, 0, 0, DType::float32, std::nullopt};
  if (floors) all.floor_us = 0;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const ProfileRow& r = profile.rows[i];
    add(fmt::format("[{}]", i), r, profile.total_us > 0 ? 100 * r.time_us / profile.total_us : 0);
    all.bytes += r.bytes;
    all.flops += r.flops;
    if (floors) *all.floor_us += *r.floor_us;
  }
  all.kernel = counted(static_cast<int64_t>(profile.rows.size()), "launch", "launches");
  add("total", all, 100);
  return table.text();
}

void write_json(DocumentBuilder& b, const Profile& profile) {
  b.begin_object().member("total_us", profile.total_us).key("launches").begin_array();
  for (const ProfileRow& r : profile.rows) {
    b.begin_object().member("kernel", r.kernel).member("source_nodes", r.nodes).member("time_us", r.time_us);
    b.member("dtype", name_of(r.dtype));
    b.member("bytes", r.bytes)
        .member("flops", r.flops)
        .member("gb_per_s", gb_per_s(r))
        .member("tflop_per_s", tflop_per_s(r));
    if (r.floor_us) b.member("floor_us", *r.floor_us);
    b.end_object();
  }
  b.end_array().end_object();
}

std::string trace_json(const Profile& profile, const std::string& device) {
  DocumentBuilder b;
  b.begin_object().member("displayTimeUnit", "ns").key("traceEvents").begin_array();
  b.begin_object()
      .member("name", "process_name")
      .member("ph", "M")
      .member("pid", 1)
      .key("args")
      .begin_object()
      .member("name", device)
      .end_object()
      .end_object();
  double at = 0;
  for (const ProfileRow& r : profile.rows) {
    b.begin_object()
        .member("name", r.kernel)
        .member("cat", "launch")
        .member("ph", "X")
        .member("ts", at)
        .member("dur", r.time_us);
    b.member("pid", 1)
        .member("tid", 1)
        .key("args")
        .begin_object()
        .member("source_nodes", r.nodes)
        .member("bytes", r.bytes);
    b.member("flops", r.flops)
        .member("gb_per_s", gb_per_s(r))
        .member("tflop_per_s", tflop_per_s(r))
        .end_object()
        .end_object();
    at += r.time_us;
  }
  b.end_array().end_object();
  return to_json(std::move(b).finish(), 1) + "\n";
}

}  // namespace ge
