// Pieces of text about a program, shared by print and diff. Entry: ProgramText, bytes_text.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contract/bind_values.h"
#include "contract/plan.h"

namespace ge {

std::string bytes_text(double bytes);  // "512 B", "43 KiB", "8.0 MiB"
std::string count_text(double count);  // "384", "2.1 G"

class ProgramText {
 public:
  ProgramText(const Plan& plan, const Program& program);
  std::string dims(const std::vector<ExprId>& dims) const;  // "[batch,16]"; "" for none
  std::string tensor(
      const TensorRef& tensor) const;       // "x[batch,16]", "-" where absent; repeated axes are left out
  std::string buffer(size_t index) const;   // its name, else "t3"
  std::optional<int64_t> value(ExprId id);  // at the best dims
  std::string symbols() const { return values_.symbols_text(); }
  // The step in one line: "matmul_f32  x[batch,16] w -> h". Operands that are first seen in memory that the
  // program writes are results, and so is a launch's last operand: built-in kernels' descriptions are not in
  // the plan.
  std::string step(const Step& step);

 private:
  std::string launch(const Launch& launch);
  const Plan& plan_;
  const Program& program_;
  std::vector<int64_t> symbols_;
  BoundValues values_;
  std::vector<std::string> names_;
  std::set<uint32_t> written_;
};

}  // namespace ge
