// What safetensors, npy and plan files take before they are known to be sound: little more than their bytes,
// whatever they say.
#include "catch.h"
#include "contract/hash.h"
#include "contract/plan_read.h"
#include "memory_meter.h"
#include "temp_folder.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

using namespace ge;
using namespace ge::test;

namespace {

std::string safetensors_bytes(const std::string& header, const std::string& data = "") {
  std::string size(8, '\0');
  store_as<uint64_t>(reinterpret_cast<std::byte*>(size.data()), header.size());
  return size + header + data;
}

std::string npy_bytes(const std::string& header, const std::string& data = "") {
  std::string size(4, '\0');
  store_as<uint32_t>(reinterpret_cast<std::byte*>(size.data()), static_cast<uint32_t>(header.size()));
  return std::string("\x93NUMPY\x02\0", 8) + size + header + data;
}

std::string block_of_cbor(const std::string& text) {
  std::string bytes = "\x7a";
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(text.size() >> shift);
  return text.size() < 24 ? static_cast<char>(0x60 + text.size()) + text : bytes + text;
}

// A plan whose checksums are right, with this program section.
std::string plan_bytes(const std::string& program) {
  PlanHeader header;
  header.format = kPlanFormat;
  for (Section& s : header.sections) s.hash = hash64({});
  header.section(SectionKind::kWeights).hash = 0;
  Section& section = header.section(SectionKind::kProgram);
  section.size_bytes = program.size();
  section.hash = hash64(as_bytes(program));
  place_sections(header);
  const auto head = encode_header(header);
  std::string file(as_text(head));
  file.resize(section.offset);
  file += program;
  file.resize(header.file_size_bytes);
  return file;
}

}  // namespace

// The header is held once, as bytes; what it says of the file is compared with the file before anything else.
TEST_CASE("safetensors that are refused took little more than their header") {
  const TempFolder folder;
  const std::string entry = ":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}",
                    none = ":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
  const std::string shape = "{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,0],\"shape\":[";
  const auto entries = [](int count, const std::string& what) {
    return many(count, [&](int i) { return "\"" + number(i) + "\"" + what + ","; });
  };
  const std::vector<Case> files = {
      {"a great header claimed", std::string("\xff\xe0\xf5\x05\0\0\0\0", 8) + std::string(kSize, ' ')},
      {"no header", safetensors_bytes(std::string(kSize, ' '))},
      {"small values", safetensors_bytes("{\"w\":[" + repeat("1,", kSize) + "1]}")},
      {"empty objects", safetensors_bytes("{\"w\":[" + repeat("{},", kSize) + "{}]}")},
      {"entries, and bytes behind",
       safetensors_bytes("{" + entries(60000, entry) + "\"w\"" + entry + "}", "12345")},
      {"entries, and one wrong", safetensors_bytes("{" + entries(60000, none) + "\"w\":1}")},
      {"foreign entries, and one wrong",
       safetensors_bytes("{" + entries(60000, ":{\"dtype\":\"F4\",\"shape\":[],\"data_offsets\":[0,0]}") +
                         "\"w\":1}")},
      {"a great shape", safetensors_bytes(shape + "4611686018427387904]}}")},
      {"a shape of many dims", safetensors_bytes(shape + repeat("0,", kSize) + "0]}}")},
      {"metadata, and one wrong",
       safetensors_bytes("{\"__metadata__\":{" + entries(400000, ":\"\"") + "\"w\":1}}")},
      {"keys that differ", safetensors_bytes("{" + entries(400000, ":0") + "\"w\":0}")},
      {"a long name", safetensors_bytes("{\"" + std::string(kSize, 'n') + "\":1}")},
      {"a long dtype", safetensors_bytes("{\"w\":{\"dtype\":\"" + std::string(kSize, 'F') +
                                         "\",\"shape\":[],\"data_offsets\":[0,9]}}")},
  };
  for (const Case& c : files) {
    const std::string path = folder.write("file", c.bytes);
    check_peak(c, measure([&] { return SafetensorsFile::open_path(path); }), 1.5);
  }
}

TEST_CASE("npy files that are refused took little more than their header") {
  const TempFolder folder;
  const std::string head = "{'descr': '<f4', 'fortran_order': True, 'shape': (";
  constexpr size_t kHeader = (1 << 20) - 100;
  const std::vector<Case> files = {
      {"a great header claimed",
       std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12) + std::string(kSize, ' ')},
      {"a header longer than the file",
       std::string("\x93NUMPY\x02\0\0\0\x0f\0", 12) + std::string(4000, ' ')},
      {"a great shape", npy_bytes(head + "4611686018427387904,)}")},
      {"a shape past the file", npy_bytes(head + "1073741824,)}", std::string(kSize, '\0'))},
      {"many dims", npy_bytes(head + repeat("1,", kHeader) + ")}")},
      {"blanks", npy_bytes(std::string(kHeader, ' '))},
      {"a long key", npy_bytes("{'" + std::string(kHeader, 'k') + "': 1}")},
      {"a long dtype", npy_bytes("{'descr': '" + std::string(kHeader, 'k') + "'}")},
      {"one byte too few", npy_bytes(head + "1024, 1024)}", std::string(kSize - 1, '\0'))},
  };
  for (const Case& c : files) {
    const std::string path = folder.write("file", c.bytes);
    check_peak(c, measure([&] { return read_npy_file(path); }), 1.05);
    check_peak(c, measure([&] { return read_npy(as_bytes(c.bytes), "w.npy"); }), 1.05);
  }
  // In Fortran's order elements are there twice, once the file is known to be sound.
  const Case sound{"Fortran's order", npy_bytes(head + "1024, 1024)}", std::string(kSize, '\0'))};
  const std::string path = folder.write("file", sound.bytes);
  const Measured m = measure([&] { return read_npy_file(path); });
  CHECK_FALSE(m.refused);
  CHECK(static_cast<double>(m.bytes) <= 2.01 * static_cast<double>(sound.bytes.size()));
}

TEST_CASE("plans that are refused took no more than twice their bytes") {
  const auto list = [](const std::string& item) { return "\x9f" + repeat(item, kSize) + "\xff"; };
  // A plan whose only program starts so; its records have their shape up to there.
  const auto program_of = [](const std::string& start) {
    const auto empty = [](const std::string& key) { return block_of_cbor(key) + "\x80"; };
    return "\xbf" + block_of_cbor("model_name") + "\x60" + block_of_cbor("made_by") + "\x60" +
           empty("kernels") + empty("images") + empty("blobs") + block_of_cbor("programs") + "\x81\xbf" +
           block_of_cbor("target") + block_of_cbor("cpu") + start + "\xff\xff";
  };
  std::string symbol = "\xbf" + block_of_cbor("name") + "\x60";
  for (const std::string key : {"min", "max", "opt"}) symbol += block_of_cbor(key) + "\x01";
  symbol += "\xff";
  const std::string no_symbols = block_of_cbor("symbols") + "\x80";
  std::string keys;
  for (int i = 0; i < 400000; ++i) keys += block_of_cbor(number(i)) + "\x01";
  const std::vector<Case> programs = {
      {"small numbers", list("\x01")},
      {"empty lists", list("\x80")},
      {"empty maps", list("\xa0")},
      {"empty texts", list("\x60")},
      {"empty bytes", list("\x40")},
      {"a great list claimed",
       std::string("\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", 9) + std::string(kSize, '\1')},
      {"a great text claimed",
       std::string("\x7b\x7f\xff\xff\xff\xff\xff\xff\xff", 9) + std::string(kSize, 'a')},
      {"a long text", block_of_cbor(std::string(kSize, 'a'))},
      {"a long key", "\xbf" + block_of_cbor(std::string(kSize, 'a')) + "\x01\xff"},
      {"keys that differ", "\xbf" + keys + "\xff"},
      {"one key many times", "\xbf" + repeat(std::string("\x60\x01", 2), kSize) + "\xff"},
      {"keys, then one many times", "\xbf" + keys + repeat(std::string("\x60\x01", 2), kSize) + "\xff"},
      {"cut off", "\x9f" + repeat("\x80", kSize)},
      {"symbols, and one wrong",
       program_of(block_of_cbor("symbols") + "\x9f" + repeat(symbol, kSize) + "\x01\xff")},
      {"expressions, and one wrong", program_of(no_symbols + block_of_cbor("exprs") + "\x9f" +
                                                repeat(std::string("\x82\0\x01", 3), kSize) + "\x01\xff")},
      {"an expression of many tokens", program_of(no_symbols + block_of_cbor("exprs") + "\x9f\x9f" +
                                                  repeat(std::string("\0\x01", 2), kSize) + "\xff\xff")},
  };
  const TempFolder folder;
  for (const Case& c : programs) {
    const Case file{c.name, plan_bytes(c.bytes)};
    check_peak(file, measure([&] { return read_plan_bytes(as_bytes(file.bytes)); }), 2);
    const std::string path = folder.write("file", file.bytes);
    check_peak(file, measure([&] { return read_plan_file(path); }), 2);
  }
}
