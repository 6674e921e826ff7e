// Checks of kernel descriptions, attributes and views, and the packer that fills a kernel's argument struct.
#include "contract/args_pack.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/checked_math.h"
#include "contract/requirements.h"

namespace ge {
namespace {

constexpr size_t kMaxOperands = 64;
constexpr uint32_t kAllDTypes = (1u << kDTypeCount) - 1;

Diagnostic malformed(const KernelDesc& desc, std::string why) {
  return fail(Code::plan_malformed)
      .say("description of kernel \"" + desc.name + "\" is malformed")
      .because(std::move(why));
}
Diagnostic refused(const KernelDesc& desc, std::string why) {
  return fail(Code::launch_refused)
      .say("launch does not fit kernel \"" + desc.name + "\"")
      .because(std::move(why));
}
std::string text_of(int64_t value) {
  return std::to_string(value);
}

bool needs_operand(ArgSource source) {
  return source != ArgSource::kAttr && source != ArgSource::kDeviceBlock && source != ArgSource::kLaunch;
}
bool is_integer_field(ArgType type) {
  return type == ArgType::kI32 || type == ArgType::kI64;
}
bool is_float_field(ArgType type) {
  return type == ArgType::kF32 || type == ArgType::kF64;
}
bool is_list(AttrType type) {
  return type == AttrType::kInts || type == AttrType::kFloats;
}

const AttrDesc* find_desc(const KernelDesc& desc, std::string_view name) {
  const auto found =
      std::ranges::find(desc.attrs, name, [](const AttrDesc& a) { return std::string_view(a.name); });
  return found == desc.attrs.end() ? nullptr : &*found;
}

Status check_operand_desc(const KernelDesc& desc, size_t index) {
  const OperandDesc& o = desc.operands[index];
  const auto bad = [&](const char* why) {
    return malformed(desc, "operand " + text_of(static_cast<int64_t>(index)) + ": " + why);
  };
  if (o.dtypes.bits() == 0 || (o.dtypes.bits() & ~kAllDTypes) != 0)
    return bad("its set of dtypes is empty or unknown");
  if (o.min_rank < 0 || o.max_rank < o.min_rank || o.max_rank > kMaxRank)
    return bad("its ranks are not within 0 .. 8");
  const bool power = o.align_bytes > 0 && std::has_single_bit(static_cast<uint16_t>(o.align_bytes));
  if (!power || o.align_bytes > 256) return bad("its alignment is no power of two up to 256");
  if (o.in_place_of == -1) return {};
  const bool exists = o.in_place_of >= 0 && static_cast<size_t>(o.in_place_of) < desc.operands.size();
  if (!exists || desc.operands[static_cast<size_t>(o.in_place_of)].role != OperandRole::kIn ||
      o.role != OperandRole::kOut) {
    return bad("only an output may be in place of an input");
  }
  return {};
}

Status check_attr_descs(const KernelDesc& desc) {
  for (size_t i = 0; i < desc.attrs.size(); ++i) {
    const AttrDesc& a = desc.attrs[i];
    if (a.type > AttrType::kString)
      return malformed(desc, "attribute \"" + a.name + "\" has an unknown type");
    if (a.name.empty() || a.min > a.max)
      return malformed(desc, "attribute \"" + a.name + "\" has no name or an empty range");
    if (find_desc(desc, a.name) != &a) return malformed(desc, "attribute \"" + a.name + "\" stands twice");
  }
  return {};
}

// Does the field's type fit what fills it, and does what fills it exist?
const char* source_fault(const KernelDesc& desc, const ArgDesc& arg) {
  if (needs_operand(arg.source) &&
      (arg.operand < 0 || static_cast<size_t>(arg.operand) >= desc.operands.size())) {
    return "it names no operand";
  }
  const auto axis_fits = [&] {
    return arg.a >= 0 && arg.a < desc.operands[static_cast<size_t>(arg.operand)].max_rank;
  };
  switch (arg.source) {
    case ArgSource::kPtr:
    case ArgSource::kDeviceBlock:
      return arg.type == ArgType::kPointer ? nullptr : "an address needs a pointer field";
    case ArgSource::kLaunch:
      return is_integer_field(arg.type) ? nullptr : "the launch's number needs an integer field";
    case ArgSource::kDim:
    case ArgSource::kStride:
      if (!is_integer_field(arg.type)) return "a dim or stride needs an integer field";
      return axis_fits() ? nullptr : "its axis is out of range";
    case ArgSource::kCount:
      if (!is_integer_field(arg.type)) return "a count needs an integer field";
      return arg.a >= 0 && arg.a <= kMaxRank && (arg.b == -1 || (arg.b >= arg.a && arg.b <= kMaxRank))
                 ? nullptr
                 : "its axes are out of range";
    case ArgSource::kView:
      return arg.type == ArgType::kView ? nullptr : "a view needs a view field";
    case ArgSource::kAttr: {
      const AttrDesc* attr = find_desc(desc, arg.attr);
      if (!attr) return "it names no attribute";
      if (attr->type == AttrType::kString) return "text cannot be packed";
      const bool integer = attr->type == AttrType::kInt || attr->type == AttrType::kInts;
      if (integer ? !is_integer_field(arg.type) : !is_float_field(arg.type))
        return "its type differs from the attribute's";
      return arg.a == 0 || (arg.a > 0 && is_list(attr->type)) ? nullptr : "its index is out of range";
    }
    case ArgSource::kTensorMap: {
      const std::string number = std::to_string(arg.operand);
      const AttrDesc *box = find_desc(desc, "box" + number), *swizzle = find_desc(desc, "swizzle" + number);
      if (!box || box->type != AttrType::kInts || !swizzle || swizzle->type != AttrType::kInt) {
        return "a tensor map needs attributes box<operand> and swizzle<operand>";
      }
      return arg.type == ArgType::kTensorMap && desc.device == KernelDevice::kCuda
                 ? nullptr
                 : "a tensor map needs its field, on CUDA";
    }
  }
  return "unknown source";
}

Status check_args_table(const KernelDesc& desc) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (size_t i = 0; i < desc.args.size(); ++i) {
    const ArgDesc& arg = desc.args[i];
    const auto bad = [&](const char* why) {
      return malformed(desc, "argument " + text_of(static_cast<int64_t>(i)) + ": " + why);
    };
    if (arg.type > ArgType::kTensorMap) return bad("unknown type");
    const int64_t size = size_of(arg.type),
                  align = arg.type == ArgType::kTensorMap ? 64 : std::min<int64_t>(size, 8);
    if (arg.offset % align != 0) return bad("its offset is not aligned");
    if (arg.offset + size > int64_t{desc.args_size}) return bad("it leaves the argument struct");
    if (const char* why = source_fault(desc, arg)) return bad(why);
    spans.emplace_back(arg.offset, arg.offset + size);
  }
  std::ranges::sort(spans);
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) return malformed(desc, "arguments overlap");
  }
  return {};
}

Status check_attr_value(const KernelDesc& desc, const AttrDesc& attr, const AttrValue& value) {
  if (value.index() != static_cast<size_t>(attr.type))
    return malformed(desc, "attribute \"" + attr.name + "\" has the wrong type");
  const auto in_range = [&](int64_t v) { return v >= attr.min && v <= attr.max; };
  bool fits = true;
  if (const auto* one = std::get_if<int64_t>(&value)) fits = in_range(*one);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
    fits = std::ranges::all_of(*list, in_range);
  if (!fits) {
    return malformed(
        desc, "attribute \"" + attr.name + "\" is outside " + text_of(attr.min) + " .. " + text_of(attr.max));
  }
  return {};
}

Status check_view(const KernelDesc& desc, const OperandDesc& o, const TensorView& view) {
  const std::string name = "operand \"" + o.name + "\" ";
  if (view.rank == -1) return o.optional ? Status() : Status(refused(desc, name + "is absent"));
  if (!o.dtypes.contains(view.dtype))
    return refused(desc, name + "has dtype " + std::string(name_of(view.dtype)));
  if (view.rank < o.min_rank || view.rank > o.max_rank) {
    return refused(desc, name + "has rank " + text_of(view.rank) + ", allowed " + text_of(o.min_rank) +
                             " .. " + text_of(o.max_rank));
  }
  const auto address = reinterpret_cast<uintptr_t>(view.data);
  const auto align = std::max<uint64_t>(static_cast<uint64_t>(o.align_bytes),
                                        static_cast<uint64_t>(bits_of(view.dtype)) / 8);
  if (address % align != 0)
    return refused(desc, name + "is not aligned to " + text_of(static_cast<int64_t>(align)) + " bytes");
  return {};
}

MaybeInt count_of(const TensorView& view, int from, int to) {
  MaybeInt n = 1;
  for (int i = from; i < to && n; ++i) n = checked_mul(*n, view.dims[i]);
  return n;
}

MaybeInt integer_source(const ArgDesc& arg, std::span<const TensorView> operands, const Attrs& attrs) {
  if (arg.source == ArgSource::kAttr) return attr_int(attrs, arg.attr, 0, static_cast<size_t>(arg.a));
  const TensorView& view = operands[static_cast<size_t>(arg.operand)];
  if (arg.source == ArgSource::kDim) return view.dims[arg.a];
  if (arg.source == ArgSource::kStride) return view.strides[arg.a];
  return count_of(view, arg.a, arg.b == -1 ? view.rank : arg.b);
}

Status pack_integer(const KernelDesc& desc, const ArgDesc& arg, MaybeInt value, std::byte* at) {
  if (!value) return refused(desc, "a count overflows 64 bits");
  if (arg.type == ArgType::kI64) {
    store_as<int64_t>(at, *value);
    return {};
  }
  if (!std::in_range<int32_t>(*value))
    return refused(desc, "the value " + text_of(*value) + " does not fit a 32-bit field");
  store_as<int32_t>(at, static_cast<int32_t>(*value));
  return {};
}

}  // namespace

Status check_desc(const KernelDesc& desc) {
  if (desc.name.empty()) return malformed(desc, "it has no name");
  if (desc.kind > KernelKind::kLibrary || desc.device > KernelDevice::kCuda)
    return malformed(desc, "unknown kind or device");
  if (desc.args_size % 8 != 0 || desc.args_size > kMaxArgsSize)
    return malformed(desc, "its argument struct is no multiple of 8 up to 4096 bytes");
  if (desc.operands.size() > kMaxOperands) return malformed(desc, "it has more than 64 operands");
  const KernelLimits& limits = desc.limits;
  if (limits.min_arch < 0 || limits.max_threads < 1 || limits.dynamic_shared_memory < 0)
    return malformed(desc, "a limit is negative or zero");
  for (size_t i = 0; i < desc.operands.size(); ++i) GE_TRY(check_operand_desc(desc, i));
  GE_TRY(check_attr_descs(desc));
  if (std::string fault = requirement_desc_fault(desc); !fault.empty())
    return malformed(desc, std::move(fault));
  return check_args_table(desc);
}

Status check_attrs(const KernelDesc& desc, const Attrs& attrs) {
  for (size_t i = 0; i < attrs.size(); ++i) {
    const auto& [name, value] = attrs[i];
    if (i > 0 && attrs[i - 1].first >= name)
      return malformed(desc, "attributes are not sorted, or \"" + name + "\" stands twice");
    const AttrDesc* attr = find_desc(desc, name);
    if (!attr) return malformed(desc, "it takes no attribute \"" + name + "\"");
    GE_TRY(check_attr_value(desc, *attr, value));
  }
  for (const AttrDesc& attr : desc.attrs) {
    if (attr.required && !find_attr(attrs, attr.name))
      return malformed(desc, "attribute \"" + attr.name + "\" is missing");
  }
  // A list must reach as far as the struct reads it. Built-in rows take one entry an axis, so their lists may
  // be shorter (the rest packs as 0): their own check holds the length against a rank.
  if (desc.kind == KernelKind::kBuiltin) return {};
  for (const ArgDesc& arg : desc.args) {
    const AttrValue* value = arg.source == ArgSource::kAttr ? find_attr(attrs, arg.attr) : nullptr;
    if (!value) continue;
    const auto index = static_cast<size_t>(arg.a);
    const auto* ints = std::get_if<std::vector<int64_t>>(value);
    const auto* floats = std::get_if<std::vector<double>>(value);
    if ((ints && index >= ints->size()) || (floats && index >= floats->size())) {
      return malformed(desc, "attribute \"" + arg.attr + "\" has too few elements");
    }
  }
  return {};
}

Status check_operands(const KernelDesc& desc, std::span<const TensorView> operands) {
  if (operands.size() != desc.operands.size()) {
    return refused(desc, "it takes " + text_of(static_cast<int64_t>(desc.operands.size())) +
                             " operands, found " + text_of(static_cast<int64_t>(operands.size())));
  }
  for (size_t i = 0; i < operands.size(); ++i) GE_TRY(check_view(desc, desc.operands[i], operands[i]));
  if (std::string fault = requirement_fault(desc, operands); !fault.empty())
    return refused(desc, std::move(fault));
  return {};
}

Status pack_args(const KernelDesc& desc, std::span<const TensorView> operands, const Attrs& attrs,
                 void* device_block, std::span<std::byte> out, uint32_t launch) {
  std::fill(out.begin(), out.end(), std::byte{0});
  for (const ArgDesc& arg : desc.args) {
    std::byte* at = out.data() + arg.offset;
    switch (arg.source) {
      case ArgSource::kPtr:
        store_as(at, operands[static_cast<size_t>(arg.operand)].data);
        break;
      case ArgSource::kView:
        store_as(at, operands[static_cast<size_t>(arg.operand)]);
        break;
      case ArgSource::kDeviceBlock:
        store_as(at, device_block);
        break;
      case ArgSource::kLaunch:
        GE_TRY(pack_integer(desc, arg, launch, at));
        break;
      case ArgSource::kTensorMap:
        break;
      case ArgSource::kAttr:
        if (is_float_field(arg.type)) {
          const double value = attr_float(attrs, arg.attr, 0, static_cast<size_t>(arg.a));
          if (arg.type == ArgType::kF64) store_as<double>(at, value);
          if (arg.type == ArgType::kF32) store_as<float>(at, static_cast<float>(value));
          break;
        }
        [[fallthrough]];
      case ArgSource::kDim:
      case ArgSource::kStride:
      case ArgSource::kCount:
        GE_TRY(pack_integer(desc, arg, integer_source(arg, operands, attrs), at));
        break;
    }
  }
  return {};
}

}  // namespace ge
