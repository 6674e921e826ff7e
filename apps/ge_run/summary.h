// What stands in a tensor: min, mean, max, first values, NaNs. Entry: summarize.
#pragma once
#include <string>
#include <vector>

#include "document/writer.h"
#include "tensor_file/host_tensor.h"

namespace ge {

struct TensorSummary {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  int64_t count = 0, nan_count = 0;
  double min = 0, mean = 0, max = 0;  // of what is no NaN; meaningless where nothing is
  std::vector<std::string> first;     // up to eight values
};
TensorSummary summarize(const std::string& name, const HostTensor& tensor);
std::string summary_table(const std::vector<TensorSummary>& rows);
void write_json(DocumentBuilder& b, const TensorSummary& summary);
// One element as text: shortest form for its dtype.
std::string element_text(const HostTensor& tensor, int64_t index);

}  // namespace ge
