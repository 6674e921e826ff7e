// safetensors: 8 bytes of header size, a JSON header, the bytes. Entry: SafetensorsFile::open,
// write_safetensors.
#include "tensor_file/safetensors.h"

#include <algorithm>
#include <numeric>

#include "document/tree.h"
#include "document/writer.h"
#include "tensor_file/npy_format.h"

namespace ge {
namespace {

constexpr int64_t kMostHeader = 100'000'000;  // bytes; the format's own limit
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName kTypes[] = {
    {DType::float64, "F64"},
    {DType::float32, "F32"},
    {DType::float16, "F16"},
    {DType::bfloat16, "BF16"},
    {DType::float8e4m3fn, "F8_E4M3"},
    {DType::float8e5m2, "F8_E5M2"},
    {DType::int64, "I64"},
    {DType::int32, "I32"},
    {DType::int16, "I16"},
    {DType::int8, "I8"},
    {DType::uint64, "U64"},
    {DType::uint32, "U32"},
    {DType::uint16, "U16"},
    {DType::uint8, "U8"},
    {DType::boolean, "BOOL"},
};

std::optional<DType> dtype_of(std::string_view name) {
  for (const TypeName& t : kTypes) {
    if (t.name == name) return t.dtype;
  }
  return std::nullopt;
}

std::string_view type_name(DType dtype) {
  for (const TypeName& t : kTypes) {
    if (t.dtype == dtype) return t.name;
  }
  return "";
}

Diagnostic corrupt(const std::string& path, std::string found) {
  return fail(Code::tensor_file_corrupt)
      .say("safetensors file is damaged or not supported")
      .at(path)
      .because(std::move(found));
}

// A fault of the header's JSON, told as one of the file; duplicate keys keep their own code.
Error as_file_fault(Error error, const std::string& path) {
  for (Diagnostic& d : error.list()) {
    if (d.code == Code::duplicate_key || kind_of(d.code) != ErrorKind::kUser) continue;
    d = corrupt(path,
                "its header, at " + d.place + ": " + d.message + (d.found.empty() ? "" : ": " + d.found));
  }
  return error;
}

// Reads one header entry, but for its name. `bytes` is the size of the data section.
class EntryReader {
 public:
  EntryReader(const std::string& path, Value entry, int64_t bytes)
      : path_(path), entry_(entry), bytes_(bytes) {}

  // nullopt in `dtype` (with its name in `foreign`) where ge has no such type.
  Status read(SafetensorsEntry& out, std::string& foreign) {
    if (!entry_.is_object()) return wrong("is " + entry_.describe() + ", an object was expected");
    const std::optional<Value> dtype = entry_.find("dtype");
    if (!dtype || !dtype->is_string()) return wrong("has no dtype");
    GE_TRY(read_shape(out.dims));
    GE_TRY(read_offsets(out.offset, out.size_bytes));
    const std::optional<DType> known = dtype_of(*dtype->as_string());
    if (!known) {
      foreign = *dtype->as_string();
      return {};
    }
    out.dtype = *known;
    const MaybeInt size = tensor_bytes(out.dtype, out.dims);
    const std::string what = std::string(*dtype->as_string()) + " " + dims_to_string(out.dims);
    if (!size) return wrong("has a size that overflows: " + what);
    if (*size != out.size_bytes) {
      return wrong("is " + what + ", " + std::to_string(*size) + " bytes, but its data_offsets span " +
                   std::to_string(out.size_bytes));
    }
    return {};
  }

 private:
  Diagnostic wrong(const std::string& what) const {
    return corrupt(path_, "tensor '" + entry_.shown_key() + "' " + what);
  }

  Status read_shape(std::vector<int64_t>& dims) const {
    const std::optional<Value> shape = entry_.find("shape");
    if (!shape || !shape->is_array()) return wrong("has no shape");
    if (shape->size() > static_cast<int64_t>(kMostNpyRank))
      return wrong("has a shape of " + std::to_string(shape->size()) + " dims; allowed are " +
                   std::to_string(kMostNpyRank));
    for (Value dim : *shape) {
      const std::optional<int64_t> n = dim.as_int64();
      if (!n || *n < 0) return wrong("has a shape with " + dim.describe() + " as a dim");
      dims.push_back(*n);
    }
    return {};
  }

  Status read_offsets(int64_t& offset, int64_t& size) const {
    const std::optional<Value> offsets = entry_.find("data_offsets");
    if (!offsets || !offsets->is_array() || offsets->size() != 2) return wrong("has no pair of data_offsets");
    const std::optional<int64_t> begin = offsets->at(0).as_int64();
    const std::optional<int64_t> end = offsets->at(1).as_int64();
    if (!begin || !end || *begin < 0 || *end < *begin) return wrong("has data_offsets that are no range");
    if (*end > bytes_) {
      return wrong("ends at byte " + std::to_string(*end) + " of the data, the file holds " +
                   std::to_string(bytes_) + ": it is truncated");
    }
    offset = *begin;
    size = *end - *begin;
    return {};
  }

  const std::string& path_;
  Value entry_;
  int64_t bytes_;
};

Status check_metadata(Value metadata, const std::string& path) {
  if (!metadata.is_object())
    return corrupt(path, "__metadata__ is " + metadata.describe() + ", an object was expected");
  for (Value v : metadata) {
    if (!v.is_string())
      return corrupt(path, "__metadata__ holds " + v.describe() + ", a string was expected");
  }
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open_path(const std::string& path) {
  GE_ASSIGN(File file, File::open(path));
  return open(std::move(file));
}

Result<SafetensorsFile> SafetensorsFile::open(File opened) {
  SafetensorsFile result(std::move(opened));
  const File& file = result.file_;
  const std::string& path = file.path();
  if (file.size() == 0) {
    return fail(Code::empty_file)
        .say("'" + path + "' is empty")
        .at(path)
        .because("a safetensors file was expected");
  }
  if (file.size() < 8) return corrupt(path, "it is truncated: " + std::to_string(file.size()) + " bytes");
  GE_ASSIGN(const ByteBuffer start, file.read(0, 8));
  const auto header_size = load_as<uint64_t>(start.data());
  if (header_size > static_cast<uint64_t>(std::min(kMostHeader, file.size() - 8))) {
    return corrupt(path, "its header claims " + std::to_string(header_size) + " bytes; the file has " +
                             std::to_string(file.size()) + ", allowed are " + std::to_string(kMostHeader));
  }
  const auto data_offset = static_cast<int64_t>(8 + header_size);
  const int64_t data_bytes = file.size() - data_offset;
  GE_ASSIGN(const ByteBuffer header, file.read(8, static_cast<int64_t>(header_size)));
  auto document = parse_json(header.span(), path + " (header)");
  if (!document.ok()) return as_file_fault(std::move(document).take_error(), path);
  if (!document->root().is_object())
    return corrupt(path, "its header is " + document->root().describe() + ", an object was expected");
  // Twice: nothing is kept before all of it is known to be sound.
  int64_t end = 0;
  size_t entries = 0;
  for (Value member : document->root()) {
    if (member.key_is(kMetadata)) {
      GE_TRY(check_metadata(member, path));
      continue;
    }
    SafetensorsEntry entry;
    std::string foreign;
    GE_TRY(EntryReader(path, member, data_bytes).read(entry, foreign));
    end = std::max(end, entry.offset + entry.size_bytes);
    entries += foreign.empty() ? 1 : 0;
  }
  if (end != data_bytes) {
    return corrupt(path, std::to_string(data_bytes - end) + " bytes follow the last tensor");
  }
  result.entries_.reserve(entries);
  for (Value member : document->root()) {
    if (member.key_is(kMetadata)) {
      for (Value v : member) result.metadata_.emplace_back(v.key(), *v.as_string());
      continue;
    }
    SafetensorsEntry entry;
    std::string foreign;
    GE_TRY(EntryReader(path, member, data_bytes).read(entry, foreign));
    entry.name = member.key();
    entry.offset += data_offset;
    if (foreign.empty()) {
      result.entries_.push_back(std::move(entry));
    } else {
      result.foreign_.emplace_back(std::move(entry.name), std::move(foreign));
    }
  }
  std::sort(result.entries_.begin(), result.entries_.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return a.offset != b.offset ? a.offset < b.offset : a.name < b.name;
            });
  result.by_name_.resize(result.entries_.size());
  std::iota(result.by_name_.begin(), result.by_name_.end(), 0u);
  std::sort(result.by_name_.begin(), result.by_name_.end(),
            [&](uint32_t a, uint32_t b) { return result.entries_[a].name < result.entries_[b].name; });
  return result;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return at != by_name_.end() && entries_[*at].name == name ? &entries_[*at] : nullptr;
}

// "'a', 'b' and 7 more"
static std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return names.empty() ? "no tensors" : text;
}

Result<HostTensor> SafetensorsFile::read(std::string_view name) const {
  if (const SafetensorsEntry* entry = find(name)) {
    GE_ASSIGN(HostTensor tensor, make_host_tensor(entry->dtype, entry->dims));
    GE_TRY(file_.read_at(entry->offset, tensor.bytes.span()));
    normalize(tensor.dtype, tensor.count(), tensor.bytes.span());
    return tensor;
  }
  for (const auto& [known, dtype] : foreign_) {
    if (known == name)
      return corrupt(path(), "tensor '" + known + "' has dtype " + dtype + ", which is not supported");
  }
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : entries_) names.push_back(entry.name);
  const std::string near = nearest(name, names);
  return fail(Code::undefined_value)
      .say("no tensor '" + std::string(name) + "' in '" + path() + "'")
      .at(path())
      .because("it holds " + first_names(names))
      .try_(near.empty() ? "use a name that stands in the file" : "did you mean '" + near + "'?");
}

Result<ByteBuffer> SafetensorsFile::read_start(const SafetensorsEntry& entry, int64_t most) const {
  GE_ASSIGN(ByteBuffer bytes, file_.read(entry.offset, std::min(most, entry.size_bytes)));
  normalize(entry.dtype, element_count(entry.dims).value_or(0), bytes.span());
  return bytes;
}

namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

Status check_names(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  std::vector<std::string_view> names;
  for (const NamedTensor& t : tensors) {
    if (type_name(t.tensor.dtype).empty()) {
      return fail(Code::unsupported_feature)
          .say("safetensors files cannot hold " + std::string(name_of(t.tensor.dtype)))
          .because("tensor '" + t.name + "'");
    }
    if (t.name == kMetadata) return fail(Code::duplicate_name).say("a tensor cannot be named '__metadata__'");
    names.push_back(t.name);
  }
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : metadata) keys.push_back(key);
  for (std::vector<std::string_view>* list : {&names, &keys}) {
    std::sort(list->begin(), list->end());
    const auto twice = std::adjacent_find(list->begin(), list->end());
    if (twice == list->end()) continue;
    const std::string what = list == &names ? "two tensors are named '" : "metadata has twice the key '";
    return fail(Code::duplicate_name).say(what + std::string(*twice) + "'");
  }
  return {};
}

// The JSON header, padded with spaces so that the data starts at a multiple of 8.
std::string make_header(const std::vector<const NamedTensor*>& order, const Metadata& metadata) {
  DocumentBuilder header;
  header.begin_object();
  if (!metadata.empty()) {
    header.key(kMetadata).begin_object();
    for (const auto& [key, value] : metadata) header.key(key).value(value);
    header.end_object();
  }
  uint64_t end = 0;
  for (const NamedTensor* t : order) {
    const uint64_t begin = end;
    end += t->tensor.bytes.size();
    header.key(t->name).begin_object().key("dtype").value(type_name(t->tensor.dtype));
    header.key("shape").integers(t->tensor.dims);
    header.key("data_offsets").begin_array().value(begin).value(end).end_array().end_object();
  }
  std::string text = to_json(std::move(header.end_object()).finish(), -1);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

Result<ByteBuffer> write_safetensors(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  GE_TRY(check_names(tensors, metadata));
  std::vector<const NamedTensor*> order;
  size_t bytes = 0;
  for (const NamedTensor& t : tensors) {
    order.push_back(&t);
    bytes += t.tensor.bytes.size();
  }
  // Widest first, so that every tensor is aligned to its elements.
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const int bits_a = bits_of(a->tensor.dtype), bits_b = bits_of(b->tensor.dtype);
    return bits_a != bits_b ? bits_a > bits_b : a->name < b->name;
  });
  const std::string header = make_header(order, metadata);
  ByteBuffer file = ByteBuffer::allocate(8 + header.size() + bytes);
  if (!file.data()) return fail(Code::out_of_memory).say("out of memory while writing a safetensors file");
  store_as<uint64_t>(file.data(), header.size());
  const ByteSpan head = as_bytes(header);
  std::byte* at = std::copy(head.begin(), head.end(), file.data() + 8);
  for (const NamedTensor* t : order) at = std::copy(t->tensor.bytes.begin(), t->tensor.bytes.end(), at);
  return file;
}

}  // namespace ge
