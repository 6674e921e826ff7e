#include "fuzz/plan_session.h"

#include <algorithm>
#include <cmath>

#include "numeric/convert.h"

namespace ge::test {
namespace {

bool failed(ge_error* error, RunResult& result) {
  if (error == nullptr) return false;
  result.code = ge_error_code(error);
  result.error = ge_error_message(error);
  result.bug = ge_error_get_kind(error) == GE_ERROR_BUG;
  ge_error_free(error);
  return true;
}

}  // namespace

bool same_tensor(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  if (std::equal(a.bytes.span().begin(), a.bytes.span().end(), b.bytes.span().begin(), b.bytes.span().end()))
    return true;
  if (!is_float(a.dtype)) return false;
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = load_as_double(a.dtype, a.bytes.data(), i),
                 y = load_as_double(b.dtype, b.bytes.data(), i);
    if (!(x == y) && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

std::unique_ptr<PlanSession> PlanSession::open(ge_device* device, ByteSpan plan, std::string& error) {
  std::unique_ptr<PlanSession> s(new PlanSession);
  RunResult result;
  if (failed(ge_plan_open_memory(plan.data(), plan.size(), nullptr, &s->plan_), result) ||
      failed(ge_model_load(s->plan_, device, nullptr, &s->model_), result) ||
      failed(ge_session_create(s->model_, nullptr, &s->session_), result)) {
    error = result.code + " " + result.error;
    return nullptr;
  }
  return s;
}

PlanSession::~PlanSession() {
  if (session_ != nullptr) ge_session_free(session_);
  if (model_ != nullptr) ge_model_free(model_);
  if (plan_ != nullptr) ge_plan_close(plan_);
}

RunResult PlanSession::bind(const std::vector<HostTensor>& inputs, const Symbols& symbols) {
  std::vector<const int64_t*> dims;
  std::vector<int32_t> ranks;
  for (const HostTensor& t : inputs) {
    dims.push_back(t.dims.data());
    ranks.push_back(static_cast<int32_t>(t.dims.size()));
  }
  std::vector<const char*> names;
  std::vector<int64_t> values;
  for (int32_t i = 0; i < ge_model_symbol_count(model_); ++i) {
    ge_symbol symbol{};
    symbol.size = sizeof symbol;
    RunResult ignored;
    if (failed(ge_model_symbol(model_, i, &symbol), ignored)) return ignored;
    const auto at = symbols.find(symbol.name);
    if (at == symbols.end()) continue;
    names.push_back(at->first.c_str());
    values.push_back(at->second);
  }
  RunResult result;
  if (failed(ge_session_bind_known(session_, dims.data(), ranks.data(), static_cast<int32_t>(inputs.size()),
                                   names.data(), values.data(), static_cast<int32_t>(names.size())),
             result))
    return result;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (failed(ge_session_write_input(session_, static_cast<int32_t>(i), inputs[i].bytes.data(),
                                      inputs[i].bytes.size()),
               result))
      return result;
  return result;
}

RunResult PlanSession::read() {
  RunResult result;
  for (int32_t i = 0; i < ge_model_output_count(model_); ++i) {
    ge_tensor t{};
    t.size = sizeof t;
    if (failed(ge_session_output(session_, i, &t), result)) return result;
    HostTensor host{static_cast<DType>(t.dtype), std::vector<int64_t>(t.dims, t.dims + t.rank),
                    ByteBuffer::allocate(t.size_bytes)};
    if (failed(ge_session_read_output(session_, i, host.bytes.data(), t.size_bytes), result)) return result;
    result.outputs.push_back(std::move(host));
  }
  return result;
}

RunResult PlanSession::run(const std::vector<HostTensor>& inputs, const Symbols& symbols, int runs) {
  RunResult first = bind(inputs, symbols);
  if (!first.ok()) return first;
  for (int i = 0; i < runs; ++i) {
    RunResult now;
    if (failed(ge_session_run(session_), now)) return now;
    now = read();
    if (!now.ok()) return now;
    if (i == 0) {
      first = std::move(now);
      continue;
    }
    for (size_t k = 0; k < now.outputs.size(); ++k) {
      if (same_tensor(now.outputs[k], first.outputs[k])) continue;
      now.code = "changed";
      now.error = "output " + std::to_string(k) + " has other bits in run " + std::to_string(i + 1) +
                  " than in run 1";
      return now;
    }
  }
  return first;
}

std::map<std::string, IndexRange> PlanSession::index_inputs() const {
  std::map<std::string, IndexRange> ranges;
  for (int32_t i = 0; i < ge_model_input_count(model_); ++i) {
    ge_port port{};
    port.size = sizeof port;
    RunResult ignored;
    if (failed(ge_model_input(model_, i, &port), ignored) || std::string_view(port.hint_kind) != "index")
      continue;
    ranges[port.name] = {static_cast<int64_t>(port.hint_low), static_cast<int64_t>(port.hint_high)};
  }
  return ranges;
}

}  // namespace ge::test
