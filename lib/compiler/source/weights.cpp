// What stands under "data": checked against dtype and shape at once, read from files when first needed.
#include "compiler/source/weights.h"

#include <algorithm>

#include "compiler/source/graph_json.h"
#include "contract/hash.h"
#include "document/base64.h"
#include "tensor_file/host_tensor.h"
#include "tensor_file/npy.h"
#include "tensor_file/raw.h"

namespace ge {
namespace {

std::string type_text(DType dtype, std::span<const int64_t> dims) {
  return std::string(name_of(dtype)) + dims_to_string(dims);
}

Diagnostic differs(const std::string& path, DType dtype, std::span<const int64_t> dims,
                   const TensorData& tensor) {
  return fail(Code::bad_tensor_data)
      .because(path + " holds " + type_text(dtype, dims) + ", the graph says " +
               type_text(tensor.dtype, tensor.dims));
}

// Faults of the file `path`, told at the JSON that names it.
Error placed(Error error, const std::string& path, const Value& at) {
  for (Diagnostic& d : error.list()) {
    const bool named = d.found.find(path) != std::string::npos || d.message.find(path) != std::string::npos;
    if (!named) d.found = d.found.empty() ? path : path + ": " + d.found;
    d.place = at.place();
    d.path = at.pointer();
  }
  return error;
}

}  // namespace

Result<TensorData> with_bytes(TensorData tensor, std::function<Result<ByteBuffer>(int64_t)> load) {
  const int64_t size = tensor.size_bytes();
  GE_ASSIGN(ByteBuffer bytes, load(std::min(size, kConstantStartBytes)));
  normalize(tensor.dtype, tensor.count(), bytes.span());
  if (size <= kConstantStartBytes) {
    tensor.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
    return tensor;
  }
  tensor.start = hash64(bytes.span());
  tensor.load = std::make_shared<const std::function<Result<ByteBuffer>()>>(
      [load = std::move(load), dtype = tensor.dtype, count = tensor.count(), size]() -> Result<ByteBuffer> {
        GE_ASSIGN(ByteBuffer all, load(size));
        normalize(dtype, count, all.span());
        return all;
      });
  return tensor;
}

bool check_rank(const Value& shape, ErrorList& errors) {
  const int64_t rank = shape.size();
  if (rank <= static_cast<int64_t>(kMaxTensorRank)) return true;
  errors.add(
      fault_at(shape, Code::document_limit, "too many dims")
          .because("found " + std::to_string(rank) + ", allowed up to " + std::to_string(kMaxTensorRank)));
  return false;
}

std::optional<DType> TensorReader::dtype(const Fields& fields) const {
  const auto text = fields.text("dtype");
  if (!text) return std::nullopt;
  const auto dtype = dtype_from_name(*text);
  if (dtype) return dtype;
  std::vector<std::string> names;
  std::string all;
  for (int i = 0; i < kDTypeCount; ++i) {
    names.emplace_back(name_of(static_cast<DType>(i)));
    all += (i ? ", " : "") + names.back();
  }
  const std::string near = nearest(*text, names);
  errors_.add(fault_at(*fields.find("dtype"), Code::unknown_dtype, "unknown dtype \"" + *text + "\"")
                  .because("dtypes are " + all)
                  .try_(near.empty() ? "" : "did you mean \"" + near + "\"?"));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> TensorReader::static_dims(const Value& shape) const {
  if (!check_rank(shape, errors_)) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Value d : shape) {
    const auto value = d.as_int64();
    if (!value || *value < 0) {
      errors_.add(fault_at(d, Code::bad_dim, "a tensor with data has dims that are numbers")
                      .because("found " + d.describe() + ", allowed integers of 64 bits from 0 up"));
      return std::nullopt;
    }
    dims.push_back(*value);
  }
  return dims;
}

std::optional<TensorData> TensorReader::read(const Fields& fields) {
  TensorData tensor;
  const auto dtype = this->dtype(fields);
  const auto shape = fields.array("shape");
  const auto data = fields.find("data");
  const auto dims = shape ? static_dims(*shape) : std::nullopt;
  if (!dtype || !dims || !data) return std::nullopt;
  tensor.dtype = *dtype;
  tensor.dims = *dims;
  if (!tensor_bytes(*dtype, *dims)) {
    errors_.add(fault_at(*shape, Code::size_overflow, "tensor size overflows")
                    .because("found " + type_text(*dtype, *dims)));
    return std::nullopt;
  }
  if (data->is_array()) return inline_data(*data, std::move(tensor));
  if (data->is_object()) return object_data(*data, std::move(tensor));
  errors_.add(
      fault_at(*data, Code::wrong_json_type, "\"data\" has the wrong type")
          .because("found " + data->describe() + ", allowed an array of numbers or an object")
          .try_("write [v] for one element, {\"fill\": v} for all alike, {\"file\": ...} for a file"));
  return std::nullopt;
}

namespace {

// Whether nested or flat numbers are those of the tensor; the first fault ends it. Nothing is kept of them.
class InlineCheck {
 public:
  InlineCheck(const TensorData& tensor, ErrorList& errors)
      : tensor_(tensor), count_(tensor.count()), errors_(errors) {}

  bool fits(const Value& data) {
    const bool nested = !data.is_empty() && data.at(0).is_array();
    return nested ? nested_fits(data, 0) : flat_fits(data);
  }

 private:
  bool flat_fits(const Value& data) {
    const int64_t size = data.size();
    const bool nested_empty = size == 0 && count_ == 0;  // [] for a dim of 0, whatever the other dims
    if (size != count_ && !nested_empty) {
      errors_.add(fault_at(data, Code::bad_tensor_data, "number of elements differs from the shape")
                      .because("found " + std::to_string(size) + ", " +
                               type_text(tensor_.dtype, tensor_.dims) + " needs " + std::to_string(count_)));
      return false;
    }
    for (const Value v : data) {
      if (!element_fits(v)) return false;
    }
    return true;
  }

  bool nested_fits(const Value& data, size_t axis) {
    const bool innermost = axis + 1 == tensor_.dims.size();
    if (!data.is_array() || axis >= tensor_.dims.size() || data.size() != tensor_.dims[axis]) {
      errors_.add(
          fault_at(data, Code::bad_tensor_data, "nesting does not fit the shape")
              .because(
                  "found " + (data.is_array() ? std::to_string(data.size()) + " elements" : data.describe()) +
                  " at depth " + std::to_string(axis) + "; the shape is " + dims_to_string(tensor_.dims)));
      return false;
    }
    for (const Value v : data) {
      if (!(innermost ? element_fits(v) : nested_fits(v, axis + 1))) return false;
    }
    return true;
  }

  bool element_fits(const Value& v) {
    std::string why;
    std::byte one[8] = {};
    if (store_number(v, tensor_.dtype, one, 0, why)) return true;
    errors_.add(
        fault_at(v, Code::bad_tensor_data, "element does not fit " + std::string(name_of(tensor_.dtype)))
            .because("found " + v.describe() + "; " + why));
    return false;
  }

  const TensorData& tensor_;
  int64_t count_;
  ErrorList& errors_;
};

// Numbers that were found to fit.
void store_all(const Value& data, DType dtype, std::byte* bytes, int64_t& next) {
  for (const Value v : data) {
    std::string why;
    if (v.is_array())
      store_all(v, dtype, bytes, next);
    else
      store_number(v, dtype, bytes, next++, why);
  }
}

}  // namespace

std::optional<TensorData> TensorReader::inline_data(const Value& data, TensorData tensor) {
  if (!InlineCheck(tensor, errors_).fits(data)) return std::nullopt;
  auto bytes = std::make_shared<ByteBuffer>();
  tensor.bytes = bytes;
  inline_.push_back({data, tensor.dtype, tensor.size_bytes(), std::move(bytes)});
  return tensor;
}

Status TensorReader::store_inline() {
  for (const Inline& tensor : inline_) {
    *tensor.bytes = ByteBuffer::allocate(static_cast<size_t>(tensor.size_bytes), true);
    if (tensor.bytes->data() == nullptr && tensor.size_bytes > 0)
      return fault_at(tensor.data, Code::out_of_memory, "out of memory");
    int64_t next = 0;
    store_all(tensor.data, tensor.dtype, tensor.bytes->data(), next);
  }
  inline_.clear();
  return {};
}

std::optional<TensorData> TensorReader::object_data(const Value& data, TensorData tensor) {
  const Fields fields(data, kDataKeys, "data", errors_);
  const auto fill = fields.find("fill"), base64 = fields.find("base64"), file = fields.find("file");
  const int forms = (fill ? 1 : 0) + (base64 ? 1 : 0) + (file ? 1 : 0);
  if (forms != 1) {
    errors_.add(fault_at(data, forms == 0 ? Code::missing_key : Code::bad_tensor_data,
                         "data must have exactly one of fill, file, base64")
                    .because("found " + std::to_string(forms)));
    return std::nullopt;
  }
  if (!file && (fields.find("tensor") || fields.find("offset"))) {
    errors_.add(fault_at(data, Code::bad_tensor_data, "tensor and offset need a file"));
    return std::nullopt;
  }
  if (fill) return fill_data(*fill, std::move(tensor));
  return base64 ? base64_data(*base64, std::move(tensor)) : file_data(fields, std::move(tensor));
}

std::optional<TensorData> TensorReader::fill_data(const Value& fill, TensorData tensor) const {
  ByteBuffer one = ByteBuffer::allocate(static_cast<size_t>(bytes_of(tensor.dtype, 1)), true);
  std::string why;
  if (!store_number(fill, tensor.dtype, one.data(), 0, why)) {
    errors_.add(
        fault_at(fill, Code::bad_tensor_data, "fill does not fit " + std::string(name_of(tensor.dtype)))
            .because("found " + fill.describe() + "; " + why));
    return std::nullopt;
  }
  tensor.bytes = std::make_shared<const ByteBuffer>(std::move(one));
  tensor.splat = true;
  return tensor;
}

std::optional<TensorData> TensorReader::base64_data(const Value& text, TensorData tensor) const {
  if (!text.is_string()) {
    tell_wrong_type(text, "a string", errors_);
    return std::nullopt;
  }
  const auto plain = text.plain_string();
  auto bytes = plain ? base64_decode(*plain) : base64_decode(*text.as_string());
  if (!bytes) {
    errors_.add(fault_at(text, Code::bad_tensor_data, "text is not base64")
                    .try_("use A-Z a-z 0-9 + / and = for padding, no white space"));
    return std::nullopt;
  }
  if (static_cast<int64_t>(bytes->size()) != tensor.size_bytes()) {
    errors_.add(fault_at(text, Code::bad_tensor_data, "number of bytes differs from dtype and shape")
                    .because("found " + std::to_string(bytes->size()) + ", " +
                             type_text(tensor.dtype, tensor.dims) + " needs " +
                             std::to_string(tensor.size_bytes())));
    return std::nullopt;
  }
  normalize(tensor.dtype, tensor.count(), bytes->span());
  tensor.bytes = std::make_shared<const ByteBuffer>(std::move(*bytes));
  return tensor;
}

std::optional<TensorData> TensorReader::file_data(const Fields& data, TensorData tensor) {
  const auto path = data.name("file");
  if (!path) return std::nullopt;
  const bool has_tensor = data.find("tensor").has_value(), has_offset = data.find("offset").has_value();
  const auto name = data.text("tensor");
  const auto offset = data.integer("offset");
  if ((has_tensor && !name) || (has_offset && !offset)) return std::nullopt;
  if (has_offset && *offset < 0) {
    errors_.add(fault_at(*data.find("offset"), Code::bad_tensor_data, "the offset is negative")
                    .because("found " + std::to_string(*offset) + ", allowed 0 and up"));
    return std::nullopt;
  }
  if (has_tensor == has_offset && (has_tensor || !path->ends_with(".npy"))) {
    errors_.add(
        fault_at(data.value(), Code::bad_tensor_data, "how to read the file is not clear")
            .because("found " + std::string(has_tensor ? "both tensor and offset"
                                                       : "neither tensor nor offset, and no .npy file"))
            .try_("give tensor (safetensors) or offset (raw little-endian bytes)"));
    return std::nullopt;
  }
  Result<TensorData> result = has_tensor   ? safetensors_data(*path, *name, std::move(tensor))
                              : has_offset ? raw_data(*path, *offset, std::move(tensor))
                                           : npy_data(*path, std::move(tensor));
  if (result.ok()) return std::move(result).value();
  // Many tensors may stand in one file: what is wrong with the file is told once.
  const Diagnostic& first = result.error().first();
  const bool about_file = first.code != Code::undefined_value && first.code != Code::bad_tensor_data;
  if (about_file && !told_.insert(*path + "\n" + first.message + "\n" + first.found).second)
    return std::nullopt;
  // Which tensor, or which part of the file: told where that is said.
  const char* key = first.code == Code::undefined_value || (has_tensor && !about_file) ? "tensor"
                    : has_offset && !about_file                                        ? "offset"
                                                                                       : "file";
  const Value at = *data.find(key);
  errors_.add(placed(std::move(result).take_error(), *path, at));
  return std::nullopt;
}

Result<TensorData> TensorReader::safetensors_data(const std::string& path, const std::string& name,
                                                  TensorData tensor) {
  GE_ASSIGN(const auto file, safetensors(path));
  const SafetensorsEntry* entry = file->find(name);
  if (!entry) {
    GE_ASSIGN(const HostTensor never,
              file->read(name));  // says undefined_value, or which dtype ge has no type for
    (void)never;
  } else if (entry->dtype != tensor.dtype || entry->dims != tensor.dims) {
    return differs("'" + name + "' in " + path, entry->dtype, entry->dims, tensor);
  }
  return with_bytes(std::move(tensor),
                    [file, entry](int64_t most) { return file->read_start(*entry, most); });
}

Result<TensorData> TensorReader::npy_data(const std::string& path, TensorData tensor) {
  // Opened again when read: a model may have more npy files than a process may have open.
  GE_ASSIGN(const File file, open(path));
  GE_ASSIGN(const auto folder, this->folder());
  constexpr int64_t kPrefix = 64 << 10;
  GE_ASSIGN(const ByteBuffer prefix, file.read(0, std::min(file.size(), kPrefix)));
  GE_ASSIGN(const NpyHeader header, read_npy_header(prefix.span(), file.size(), path));
  if (header.dtype != tensor.dtype || header.dims != tensor.dims)
    return differs(path, header.dtype, header.dims, tensor);
  return with_bytes(std::move(tensor), [folder, path, header](int64_t most) -> Result<ByteBuffer> {
    GE_ASSIGN(const File again, folder->open_beneath(path));
    const int64_t size = tensor_bytes(header.dtype, header.dims).value_or(0);
    if (most < size && !header.fortran_order) return again.read(header.data_offset, most);
    GE_ASSIGN(HostTensor read, read_npy(again));
    if (read.dtype != header.dtype || read.dims != header.dims)
      return fail(Code::file_unreadable).say("the file changed while it was in use").at(path);
    if (static_cast<int64_t>(read.bytes.size()) <= most) return std::move(read.bytes);
    return ByteBuffer::copy_of(read.bytes.span().first(static_cast<size_t>(most)));
  });
}

Result<TensorData> TensorReader::raw_data(const std::string& path, int64_t offset, TensorData tensor) {
  GE_ASSIGN(const auto file, raw_file(path));
  const int64_t size = tensor.size_bytes();
  if (offset < 0 || offset > file->size() || size > file->size() - offset) {
    return fail(Code::bad_tensor_data)
        .because(path + " has " + std::to_string(file->size()) + " bytes; " +
                 type_text(tensor.dtype, tensor.dims) + " at offset " + std::to_string(offset) + " needs " +
                 std::to_string(size));
  }
  return with_bytes(std::move(tensor), [file, offset](int64_t most) { return file->read(offset, most); });
}

Result<std::shared_ptr<const Folder>> TensorReader::folder() {
  if (!folder_) {
    GE_ASSIGN(Folder opened, Folder::open(folder_path_));
    folder_ = std::make_shared<const Folder>(std::move(opened));
  }
  return folder_;
}

Result<File> TensorReader::open(const std::string& path) {
  GE_ASSIGN(const auto folder, this->folder());
  GE_ASSIGN(File file, folder->open_beneath(path));
  files_.insert(file.path());
  return file;
}

namespace {
// What `open` gave for this path; the first answer is kept, a fault is told at every use.
template <class T, class Open>
Result<std::shared_ptr<const T>> opened_once(std::map<std::string, Result<std::shared_ptr<const T>>>& known,
                                             const std::string& path, Open open) {
  auto at = known.find(path);
  if (at == known.end()) {
    Result<T> file = open();
    at = known
             .emplace(path,
                      file.ok()
                          ? Result(std::shared_ptr<const T>(std::make_shared<T>(std::move(file).value())))
                          : Result<std::shared_ptr<const T>>(std::move(file).take_error()))
             .first;
  }
  if (!at->second.ok()) return Error(at->second.error());
  return *at->second;
}
}  // namespace

Result<std::shared_ptr<const SafetensorsFile>> TensorReader::safetensors(const std::string& path) {
  return opened_once<SafetensorsFile>(safetensors_, path, [&]() -> Result<SafetensorsFile> {
    GE_ASSIGN(File file, open(path));
    return SafetensorsFile::open(std::move(file));
  });
}

Result<std::shared_ptr<const File>> TensorReader::raw_file(const std::string& path) {
  return opened_once<File>(raw_files_, path, [&]() { return open(path); });
}

}  // namespace ge
