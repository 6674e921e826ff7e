// npy, safetensors, raw: what is read, what is refused, and with which words.
#include <cstring>

#include "catch.h"
#include "temp_folder.h"
#include "tensor_file/npy.h"
#include "tensor_file/raw.h"
#include "tensor_file/safetensors.h"

namespace ge {
namespace {

using test::contains;
using test::TempFolder;

// An npy file with this header dict and these bytes after it.
std::string npy(const std::string& dict, const std::string& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const size_t size = dict.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(size >> (8 * i));
  return text + dict + data;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string text;
  for (const T v : values) text.append(reinterpret_cast<const char*>(&v), sizeof v);
  return text;
}

template <class T>
std::vector<T> values(const HostTensor& t) {
  std::vector<T> out(t.bytes.size() / sizeof(T));
  std::memcpy(out.data(), t.bytes.data(), t.bytes.size());
  return out;
}

Result<HostTensor> read(const std::string& text) {
  return read_npy(as_bytes(text), "a.npy");
}

using Dims = std::vector<int64_t>;

TEST_CASE("npy arrays are read in C and in Fortran order", "[npy]") {
  const auto c = read(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", raw<float>({1, 2, 3, 4, 5, 6})));
  REQUIRE_OK(c);
  CHECK(c->dtype == DType::float32);
  CHECK(c->dims == Dims{2, 3});
  CHECK(values<float>(*c) == std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto f = read(
      npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", raw<int16_t>({1, 4, 2, 5, 3, 6})));
  REQUIRE_OK(f);
  CHECK(values<int16_t>(*f) == std::vector<int16_t>{1, 2, 3, 4, 5, 6});
  // a[i][j][k] = 100 i + 10 j + k, shape (2, 3, 2), first index fastest.
  const auto cube = read(npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3, 2), }",
                             raw<int64_t>({0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121})));
  REQUIRE_OK(cube);
  CHECK(values<int64_t>(*cube) == std::vector<int64_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
}

TEST_CASE("npy scalars, empty arrays, one dim, bools, versions 2 and 3", "[npy]") {
  const auto scalar =
      read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", raw<double>({2.5})));
  REQUIRE_OK(scalar);
  CHECK(scalar->dims.empty());
  CHECK(values<double>(*scalar) == std::vector<double>{2.5});
  const auto empty = read(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0, 5), }", ""));
  REQUIRE_OK(empty);
  CHECK(empty->dims == Dims{3, 0, 5});
  CHECK(empty->bytes.size() == 0);
  const auto bools =
      read(npy("{\"shape\": (3,), 'fortran_order': False, 'descr': '|b1'}", std::string("\0\x01\x07", 3), 2));
  REQUIRE_OK(bools);
  CHECK(bools->dtype == DType::boolean);
  CHECK(values<uint8_t>(*bools) == std::vector<uint8_t>{0, 1, 1});
  const auto python2 =
      read(npy("{'descr': '=u4', 'fortran_order': False, 'shape': (2L,)}", raw<uint32_t>({1, 2}), 3));
  REQUIRE_OK(python2);
  CHECK(python2->dtype == DType::uint32);
  REQUIRE_OK(read(npy("{'descr': '>i1', 'fortran_order': False, 'shape': (1,)}", "a")));
}

TEST_CASE("npy files that are damaged or of other kinds are refused with what was found", "[npy]") {
  struct Case {
    std::string text;
    const char* found;
  };
  const std::string four = raw<float>({1, 2});
  const auto with = [&](const std::string& descr, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }", four);
  };
  const Case cases[] = {
      {with("'>f4'", "(2,)"), "big-endian"},
      {with("'|O'", "(2,)"), "Python objects"},
      {with("'<U2'", "(1,)"), "is text"},
      {with("'<c8'", "(1,)"), "complex"},
      {with("'|V2'", "(4,)"), "bfloat16"},
      {with("'<f3'", "(2,)"), "not supported"},
      {with("[('a', '<f4'), ('b', '<f4')]", "(1,)"), "structured"},
      {with("'<f4'", "(3,)"), "needs 12 bytes, 8 are there: the file is truncated"},
      {with("'<f4'", "(1,)"), "needs 4 bytes, 8 are there: the file is followed by something else"},
      {with("'<f4'", "(-2,)"), "negative dim, -2"},
      {with("'<f4'", "(4611686018427387904, 4)"), "overflows"},
      {with("'<f4'", "(1152921504606846976,)"), "overflows"},
      {with("'<f4'", "(144115188075855872,)"), "needs 576460752303423488 bytes"},
      {with("'<f4'", "(99999999999999999999,)"), "64 bits"},
      {with("'<f4'", "(2.0,)"), "',' or ')'"},
      {with("'<f4'", "2"), "'('"},
      {with("'<f4'", "(2 2)"), "',' or ')'"},
      {npy("{'descr': '<f4', 'shape': (2,)}", four), "lacks 'fortran_order'"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four), "twice"},
      {npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", four), "True or False"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", four), "unknown key 'more'"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", four), "the end"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", ""), "expected"},
      {npy("import os", ""), "'{' expected"},
      {npy("{}", "", 4), "version 4.0"},
      {"PK\x03\x04 an npz file", "does not start"},
      {std::string("\x93NUMPY\x01\0\xff\xff{", 11), "truncated inside its header"},
      {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "header claims 4294967295 bytes"},
      {std::string("\x93NUMPY\x01", 7), "truncated inside its header"},
      {"\x93NU", "does not start"},
  };
  const TempFolder folder;
  for (const Case& c : cases) {
    INFO(c.found);
    const auto bytes = read(c.text);
    REQUIRE_CODE(bytes, Code::tensor_file_corrupt);
    CHECK_THAT(bytes.error().first().found, contains(c.found));
    const auto file = read_npy_file(folder.write("bad.npy", c.text));  // the same through pread
    REQUIRE_CODE(file, Code::tensor_file_corrupt);
    CHECK(file.error().first().found == bytes.error().first().found);
  }
  REQUIRE_CODE(read(""), Code::empty_file);
  REQUIRE_CODE(read_npy_file(folder / "none.npy"), Code::file_not_found);
  std::string dims;
  for (int i = 0; i < 65; ++i) dims += "1,";
  REQUIRE_CODE(read(with("'<f4'", "(" + dims + ")")), Code::tensor_file_corrupt);
}

TEST_CASE("Every truncation of an npy file is refused", "[npy]") {
  const std::string good =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", raw<float>({1, 2}));
  REQUIRE_OK(read(good));
  for (size_t n = 0; n < good.size(); ++n) REQUIRE_FALSE(read(good.substr(0, n)).ok());
}

TEST_CASE("npy files are written as numpy writes them", "[npy]") {
  auto t = make_host_tensor(DType::int32, {2, 1}, true);
  REQUIRE_OK(t);
  store_as<int32_t>(t->bytes.data() + 4, 7);
  const auto bytes = write_npy(span_of(*t));
  REQUIRE_OK(bytes);
  std::string expected = std::string("\x93NUMPY\x01\0\x76\0", 10) +
                         "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }";
  expected.resize(127, ' ');
  expected += "\n" + raw<int32_t>({0, 7});
  CHECK(as_text(bytes->span()) == expected);
  const TempFolder folder;
  REQUIRE_OK(write_npy_file(folder / "t.npy", span_of(*t)));
  CHECK(folder.read("t.npy") == expected);
  const auto back = read_npy_file(folder / "t.npy");
  REQUIRE_OK(back);
  CHECK(back->dims == Dims{2, 1});
  CHECK(values<int32_t>(*back) == std::vector<int32_t>{0, 7});
  for (const Dims& dims : {Dims{}, Dims{5}, Dims{0}, Dims{3, 0}}) {
    const auto empty = make_host_tensor(DType::float16, dims, true);
    REQUIRE_OK(empty);
    const auto round = read_npy(write_npy(span_of(*empty))->span(), "x");
    REQUIRE_OK(round);
    CHECK(round->dims == dims);
  }
  const auto refused = npy_header(DType::bfloat16, Dims{2});
  REQUIRE_CODE(refused, Code::unsupported_feature);
  CHECK_THAT(refused.error().first().fix, contains("safetensors"));
}

std::string safetensors(const std::string& header, const std::string& data) {
  return raw<uint64_t>({header.size()}) + header + data;
}

TEST_CASE("safetensors files are listed and read lazily", "[safetensors]") {
  const TempFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
      R"("w.a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},"none":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]}})";
  const auto file = SafetensorsFile::open_path(
      folder.write("w.safetensors", safetensors(header, raw<uint16_t>({1, 2, 3, 4}) + raw<int64_t>({-9}))));
  REQUIRE_OK(file);
  REQUIRE(file->entries().size() == 3);
  CHECK(file->entries()[0].name == "w.a");
  CHECK(file->entries()[0].dims == Dims{2, 2});
  CHECK(file->metadata() == std::vector<std::pair<std::string, std::string>>{{"format", "pt"}});
  CHECK(values<int64_t>(*file->read("b")) == std::vector<int64_t>{-9});
  CHECK(values<uint16_t>(*file->read("w.a")) == std::vector<uint16_t>{1, 2, 3, 4});
  CHECK(file->read("none")->dims == Dims{0, 3});
  const auto missing = file->read("w.b");
  REQUIRE_CODE(missing, Code::undefined_value);
  CHECK_THAT(missing.error().first().fix, contains("w.a"));
}

TEST_CASE("safetensors files that are damaged are refused with what was found", "[safetensors]") {
  struct Case {
    std::string text;
    const char* found;
  };
  const auto one = [](const std::string& entry) {
    return safetensors("{\"t\":" + entry + "}", std::string(8, 'x'));
  };
  const Case cases[] = {
      {"abc", "truncated: 3 bytes"},
      {raw<uint64_t>({UINT64_MAX}) + "{}", "header claims 18446744073709551615"},
      {raw<uint64_t>({100}) + "{}", "header claims 100"},
      {safetensors("{\"t\":", ""), "not valid JSON"},
      {safetensors("[]", ""), "an object was expected"},
      {safetensors("", ""), "is empty"},
      {one("3"), "'t' is 3"},
      {one(R"({"shape":[2],"data_offsets":[0,8]})"), "no dtype"},
      {one(R"({"dtype":"F32","data_offsets":[0,8]})"), "no shape"},
      {one(R"({"dtype":"F32","shape":[2]})"), "no pair of data_offsets"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,9]})"), "no pair of data_offsets"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "no range"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})"), "no range"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]})"), "no range"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"), "truncated"},
      {one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), "12 bytes, but its data_offsets span 8"},
      {one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "-2 as a dim"},
      {one(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,8]})"), "1.5 as a dim"},
      {one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"), "overflows"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), "4 bytes follow the last tensor"},
      {safetensors(R"({"__metadata__":{"a":1}})", ""), "a string was expected"},
  };
  const TempFolder folder;
  for (const Case& c : cases) {
    INFO(c.found);
    const auto file = SafetensorsFile::open_path(folder.write("bad", c.text));
    REQUIRE_CODE(file, Code::tensor_file_corrupt);
    CHECK_THAT(file.error().first().found, contains(c.found));
  }
  REQUIRE_CODE(SafetensorsFile::open_path(folder.write("bad", "")), Code::empty_file);
  const std::string t = R"("t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  REQUIRE_CODE(SafetensorsFile::open_path(
                   folder.write("bad", safetensors("{" + t + "," + t + "}", std::string(8, 'x')))),
               Code::duplicate_key);
  const auto foreign = SafetensorsFile::open_path(
      folder.write("c64", one(R"({"dtype":"C64","shape":[1],"data_offsets":[0,8]})")));
  REQUIRE_OK(foreign);
  const auto refused = foreign->read("t");
  REQUIRE_CODE(refused, Code::tensor_file_corrupt);
  CHECK_THAT(refused.error().first().found, contains("C64"));
}

TEST_CASE("safetensors files are written the same whatever order they are given in", "[safetensors]") {
  auto wide = make_host_tensor(DType::float64, {2}, true);
  auto half = make_host_tensor(DType::bfloat16, {3}, true);
  auto flag = make_host_tensor(DType::boolean, {}, true);
  REQUIRE_OK(wide);
  REQUIRE_OK(half);
  REQUIRE_OK(flag);
  store_as<double>(wide->bytes.data(), 1.25);
  const NamedTensor a{"z", span_of(*wide)}, b{"a", span_of(*half)}, c{"b", span_of(*flag)};
  const auto one = write_safetensors({a, b, c}, {{"k", "v"}});
  const auto two = write_safetensors({c, b, a}, {{"k", "v"}});
  REQUIRE_OK(one);
  REQUIRE_OK(two);
  CHECK(as_text(one->span()) == as_text(two->span()));
  CHECK(load_as<uint64_t>(one->data()) % 8 == 0);
  const TempFolder folder;
  const auto file = SafetensorsFile::open_path(folder.write("w", as_text(one->span())));
  REQUIRE_OK(file);
  CHECK(file->entries()[0].name == "z");
  CHECK(values<double>(*file->read("z")) == std::vector<double>{1.25, 0});
  CHECK(file->read("b")->dtype == DType::boolean);
  REQUIRE_CODE(write_safetensors({a, a}), Code::duplicate_name);
  REQUIRE_CODE(write_safetensors({a}, {{"k", "1"}, {"k", "2"}}), Code::duplicate_name);
  REQUIRE_CODE(write_safetensors({{"__metadata__", span_of(*wide)}}), Code::duplicate_name);
  auto packed = make_host_tensor(DType::int4, {2}, true);
  REQUIRE_OK(packed);
  REQUIRE_CODE(write_safetensors({{"q", span_of(*packed)}}), Code::unsupported_feature);
}

TEST_CASE("Raw tensors are read at an offset and stay within the file", "[raw]") {
  const TempFolder folder;
  const auto file = File::open(folder.write("w.bin", "xx" + raw<float>({1, 2, 3})));
  REQUIRE_OK(file);
  const auto t = read_raw(*file, 2, DType::float32, {3});
  REQUIRE_OK(t);
  CHECK(values<float>(*t) == std::vector<float>{1, 2, 3});
  const auto shorter = read_raw(*file, 6, DType::float32, {3});
  REQUIRE_CODE(shorter, Code::bad_tensor_data);
  CHECK_THAT(shorter.error().first().found, contains("needs 12 bytes; the file has 14"));
  REQUIRE_CODE(read_raw(*file, -1, DType::float32, {1}), Code::bad_tensor_data);
  REQUIRE_CODE(read_raw(*file, INT64_MAX, DType::float32, {1}), Code::bad_tensor_data);
  REQUIRE_CODE(read_raw(*file, 0, DType::float32, {int64_t{1} << 62, 4}), Code::size_overflow);
  REQUIRE_CODE(read_raw(*file, 0, DType::float32, {-1}), Code::size_overflow);
  REQUIRE_OK(read_raw(*file, 14, DType::float32, {0}));
}

TEST_CASE("Tensor sizes are checked", "[tensor]") {
  CHECK(element_count(Dims{}) == 1);
  CHECK(element_count(Dims{int64_t{1} << 40, 0, 7}) == 0);
  CHECK(element_count(Dims{int64_t{1} << 40, int64_t{1} << 40, 0}) == std::nullopt);
  CHECK(element_count(Dims{0, int64_t{1} << 40, int64_t{1} << 40}) == std::nullopt);
  CHECK(tensor_bytes(DType::float32, Dims{int64_t{1} << 57, 0}) == 0);
  CHECK(tensor_bytes(DType::float32, Dims{int64_t{1} << 60, 0}) == std::nullopt);
  CHECK(tensor_bytes(DType::int4, Dims{int64_t{1} << 60, 0}) == 0);
  CHECK(element_count(Dims{int64_t{1} << 40, int64_t{1} << 40}) == std::nullopt);
  CHECK(element_count(Dims{0, -1}) == std::nullopt);
  CHECK(tensor_bytes(DType::int4, Dims{3}) == 2);
  CHECK(tensor_bytes(DType::float64, Dims{int64_t{1} << 60}) == std::nullopt);
  REQUIRE_CODE(make_host_tensor(DType::float32, {int64_t{1} << 40, int64_t{1} << 40}), Code::size_overflow);
  REQUIRE_CODE(make_host_tensor(DType::float32, {int64_t{1} << 50}), Code::out_of_memory);
  CHECK(dims_to_string(Dims{2, 3}) == "[2, 3]");
}

}  // namespace
}  // namespace ge
