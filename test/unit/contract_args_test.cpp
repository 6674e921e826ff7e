// Kernel descriptions and the packing of argument structs.
#include <cstring>

#include "catch.h"
#include "contract/args_pack.h"
#include "contract_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

KernelDesc scale() {
  return *test_kernels()("scale_reference", 1).desc;
}
std::string why(const KernelDesc& d) {
  const Status status = check_desc(d);
  REQUIRE_CODE(status, Code::plan_malformed);
  return status.error().first().found;
}
TensorView view(std::vector<int64_t> dims, uintptr_t address = 0, DType dtype = DType::float32) {
  TensorView v;
  v.rank = static_cast<int32_t>(dims.size());
  v.dtype = dtype;
  v.data = reinterpret_cast<void*>(address);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    v.dims[i] = dims[i];
    v.strides[i] = stride;
    stride *= dims[i];
  }
  return v;
}
TensorView absent() {
  TensorView v;
  v.rank = -1;
  return v;
}
const Attrs kAttrs = {{"alpha", 0.5}, {"axes", std::vector<int64_t>{1, 3}}};

}  // namespace

TEST_CASE("a description is checked by itself") {
  CHECK(check_desc(scale()).ok());
  const auto changed = [](auto&& change) {
    KernelDesc d = scale();
    change(d);
    return why(d);
  };
  CHECK(changed([](KernelDesc& d) { d.args_size = 452; }) ==
        "its argument struct is no multiple of 8 up to 4096 bytes");
  CHECK(changed([](KernelDesc& d) { d.args_size = 4104; }) ==
        "its argument struct is no multiple of 8 up to 4096 bytes");
  CHECK(changed([](KernelDesc& d) { d.args[6].offset = 456; }) ==
        "argument 6: it leaves the argument struct");
  CHECK(changed([](KernelDesc& d) { d.args[6].offset = 0xfffffff8; }) ==
        "argument 6: it leaves the argument struct");
  CHECK(changed([](KernelDesc& d) { d.args[6].offset = 436; }) == "argument 6: its offset is not aligned");
  CHECK(changed([](KernelDesc& d) { d.args[6].offset = 432; }) == "arguments overlap");
  CHECK(changed([](KernelDesc& d) { d.args[0].operand = 3; }) == "argument 0: it names no operand");
  CHECK(changed([](KernelDesc& d) { d.args[3].attr = "beta"; }) == "argument 3: it names no attribute");
  CHECK(changed([](KernelDesc& d) { d.args[3].attr = "mode"; }) == "argument 3: text cannot be packed");
  CHECK(changed([](KernelDesc& d) { d.args[5].b = 9; }) == "argument 5: its axes are out of range");
  CHECK(changed([](KernelDesc& d) { d.args[5] = {444, ArgType::kI32, ArgSource::kDim, 1, 1, -1, ""}; }) ==
        "argument 5: its axis is out of range");
  CHECK(changed([](KernelDesc& d) { d.operands[2].in_place_of = 2; }) ==
        "operand 2: only an output may be in place of an input");
  CHECK(changed([](KernelDesc& d) { d.operands[0].align_bytes = 3; }) ==
        "operand 0: its alignment is no power of two up to 256");
  CHECK(changed([](KernelDesc& d) { d.operands[0].dtypes = {}; }) ==
        "operand 0: its set of dtypes is empty or unknown");
  CHECK(changed([](KernelDesc& d) { d.attrs[1].name = "alpha"; }) == "attribute \"alpha\" stands twice");
}

TEST_CASE("attributes must be there, known, typed, sorted and in range") {
  const KernelDesc d = scale();
  const auto refused = [&](Attrs attrs) {
    const Status status = check_attrs(d, attrs);
    REQUIRE_CODE(status, Code::plan_malformed);
    return status.error().first().found;
  };
  CHECK(check_attrs(d, kAttrs).ok());
  CHECK(refused({{"axes", std::vector<int64_t>{1, 3}}}) == "attribute \"alpha\" is missing");
  CHECK(refused({{"alpha", int64_t{1}}, {"axes", std::vector<int64_t>{1, 3}}}) ==
        "attribute \"alpha\" has the wrong type");
  CHECK(refused({{"alpha", 1.0}, {"axes", std::vector<int64_t>{1, 8}}}) ==
        "attribute \"axes\" is outside 0 .. 7");
  // Lists of built-in kernels may be shorter (their own check holds the length), those of generated ones may
  // not.
  const Attrs shorter = {{"alpha", 1.0}, {"axes", std::vector<int64_t>{1}}};
  CHECK(check_attrs(d, shorter).ok());
  KernelDesc generated = d;
  generated.kind = KernelKind::kGenerated;
  const Status short_list = check_attrs(generated, shorter);
  REQUIRE_CODE(short_list, Code::plan_malformed);
  CHECK(short_list.error().first().found == "attribute \"axes\" has too few elements");
  CHECK(refused({{"alpha", 1.0}, {"axes", std::vector<int64_t>{1, 3}}, {"beta", 1.0}}) ==
        "it takes no attribute \"beta\"");
  CHECK(refused({{"axes", std::vector<int64_t>{1, 3}}, {"alpha", 1.0}}) ==
        "attributes are not sorted, or \"alpha\" stands twice");
}

TEST_CASE("views are checked against their operands") {
  const KernelDesc d = scale();
  const auto refused = [&](std::vector<TensorView> views) {
    const Status status = check_operands(d, views);
    REQUIRE_CODE(status, Code::launch_refused);
    return status.error().first().found;
  };
  CHECK(check_operands(d, std::vector{view({2, 3}), absent(), view({2, 3})}).ok());
  CHECK(refused({view({2}), view({2})}) == "it takes 3 operands, found 2");
  CHECK(refused({absent(), absent(), view({2})}) == "operand \"x\" is absent");
  CHECK(refused({view({2}, 0, DType::int64), absent(), view({2})}) == "operand \"x\" has dtype int64");
  CHECK(refused({view({2}), view({2, 2}), view({2})}) == "operand \"bias\" has rank 2, allowed 1 .. 1");
  CHECK(refused({view({2}, 2), absent(), view({2})}) == "operand \"x\" is not aligned to 4 bytes");
}

TEST_CASE("arguments are packed from views, attributes and the device block") {
  const KernelDesc d = scale();
  std::vector<std::byte> out(d.args_size, std::byte{0xee});
  int block = 0;
  const std::vector<TensorView> views = {view({2, 3}, 0x1000), absent(), view({2, 3}, 0x2000)};
  REQUIRE_OK(pack_args(d, views, kAttrs, &block, out));
  TensorView x, bias;
  std::memcpy(&x, out.data(), sizeof x);
  std::memcpy(&bias, out.data() + 144, sizeof bias);
  CHECK(x.data == views[0].data);
  CHECK(x.dims[1] == 3);
  CHECK(bias.data == nullptr);
  CHECK(bias.rank == -1);
  CHECK(load_as<double>(&out[432]) == 0.5);
  CHECK(load_as<int32_t>(&out[440]) == 3);
  CHECK(load_as<int32_t>(&out[444]) == 6);
  CHECK(load_as<void*>(&out[448]) == &block);
}

TEST_CASE("a value that does not fit its field is refused") {
  const KernelDesc d = scale();
  std::vector<std::byte> out(d.args_size);
  const std::vector<TensorView> views = {view({int64_t{1} << 20, 1 << 12}), absent(), view({2})};
  const Status status = pack_args(d, views, kAttrs, nullptr, out);
  REQUIRE_CODE(status, Code::launch_refused);
  CHECK(status.error().first().found == "the value 4294967296 does not fit a 32-bit field");
}

TEST_CASE("attributes are found by name and element") {
  CHECK(attr_int(kAttrs, "axes", -1, 1) == 3);
  CHECK(attr_int(kAttrs, "axes", -1, 2) == -1);
  CHECK(attr_int(kAttrs, "alpha", -1) == -1);
  CHECK(attr_float(kAttrs, "alpha", 0) == 0.5);
  CHECK(find_attr(kAttrs, "beta") == nullptr);
}

TEST_CASE("what generated code takes for granted of its views is checked") {
  KernelDesc d = scale();
  using Kind = RequirementKind;
  const auto with = [&](Requirement r) {
    KernelDesc changed = d;
    changed.requirements = {r};
    return changed;
  };
  CHECK(why(with({Kind::kExtent, 3, 0, 1, 4})) == "requirement 0 is of an operand that is not");
  CHECK(why(with({Kind::kExtent, -1, 0, 1, 4})) == "requirement 0 is of an operand that is not");
  CHECK(why(with({Kind::kSameDims, 0, 0, 1, 7})) == "requirement 0 is of an operand that is not");
  CHECK(why(with({Kind::kExtent, 0, 1, 1, 4})) == "requirement 0 is of an axis that is not");
  CHECK(why(with({Kind::kStride, 0, 8, 0, 4})) == "requirement 0 is of an axis that is not");
  CHECK(why(with({Kind::kMerges, 0, 0, 8, 0})) == "requirement 0 is of an axis that is not");
  CHECK(why(with({Kind::kExtentMultiple, 0, 0, 1, 0})) == "requirement 0 asks for multiples of 0");
  CHECK(why(with({static_cast<Kind>(7), 0, 0, 1, 0})) == "requirement 0 is of an unknown kind");

  const TensorView x = view({2, 6, 4}, 256), same = view({2, 6, 4}, 512);
  const auto refusal = [&](Requirement r, TensorView first) {
    const KernelDesc changed = with(r);
    CHECK(check_desc(changed).ok());
    const TensorView views[] = {first, absent(), same};
    const Status status = check_operands(changed, views);
    if (status.ok()) return std::string();
    REQUIRE_CODE(status, Code::launch_refused);
    return status.error().first().found;
  };
  CHECK(refusal({Kind::kExtent, 0, 1, 3, 24}, x) == "");
  CHECK(refusal({Kind::kExtent, 0, 1, 3, 25}, x) ==
        "operand \"x\" has extent 24 on axis 1 to 2, its code was made for 25");
  CHECK(refusal({Kind::kExtentMultiple, 0, 0, 2, 4}, x) == "");
  CHECK(refusal({Kind::kExtentMultiple, 0, 0, 2, 8}, x) ==
        "operand \"x\" has extent 12 on axis 0 to 1, its code was made for multiples of 8");
  CHECK(refusal({Kind::kExtentAtMost, 0, 0, 3, 48}, x) == "");
  CHECK(refusal({Kind::kExtentAtMost, 0, 0, 3, 47}, x) ==
        "operand \"x\" has extent 48 on axis 0 to 2, its code was made for at most 47");
  CHECK(refusal({Kind::kStride, 0, 1, 0, 4}, x) == "");
  CHECK(refusal({Kind::kStride, 0, 1, 0, 6}, x) ==
        "operand \"x\" has stride 4 on axis 1, its code was made for 6");
  CHECK(refusal({Kind::kStrideMultiple, 0, 0, 0, 8}, x) == "");
  CHECK(refusal({Kind::kStrideMultiple, 0, 1, 0, 8}, x) ==
        "operand \"x\" has stride 4 on axis 1, its code was made for multiples of 8");
  CHECK(refusal({Kind::kMerges, 0, 0, 1, 0}, x) == "");
  TensorView gap = x;
  gap.strides[0] = 30;
  CHECK(refusal({Kind::kMerges, 0, 0, 1, 0}, gap) ==
        "operand \"x\" does not run on from axis 1 to axis 0 as its code takes it to");
  CHECK(refusal({Kind::kSameDims, 0, 0, 3, 2}, x) == "");
  CHECK(refusal({Kind::kSameDims, 0, 0, 3, 2}, view({2, 6, 5}, 256)) ==
        "operand \"x\" and operand \"y\" differ in dims");
  CHECK(refusal({Kind::kExtent, 0, 3, 4, 1}, x) == "operand \"x\" has no axis 3");
  CHECK(refusal({Kind::kExtent, 1, 0, 1, 1}, x).ends_with("has no axis 0"));
  // A stride along an axis of one position is never used.
  TensorView single = view({1, 6, 4}, 256);
  single.strides[0] = 7;
  CHECK(refusal({Kind::kStride, 0, 0, 0, 24}, single) == "");
  CHECK(refusal({Kind::kMerges, 0, 0, 1, 0}, single) == "");
}
