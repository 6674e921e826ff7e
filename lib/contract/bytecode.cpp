// Loop programs as bytes and as text. Entry: encode_loop, decode_loop, to_text, loop_from_text.
// Bytes, little endian: "geL1", outer_rank, row_rank, sweeps, operand count (u8 each), constant count,
// instruction count (u16 each), then operands (3 bytes), constants (type, 8 bytes of bits) and instructions
// (16 bytes). Invariant: decode(encode(p)) is p and every byte has one meaning: padding and out-of-range
// enums are refused.
#include "contract/bytecode.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "contract/scalar_op.h"

namespace ge {
namespace {

constexpr char kMagic[4] = {'g', 'e', 'L', '1'};
constexpr size_t kHeaderBytes = 12, kOperandBytes = 3, kConstantBytes = 9, kInstructionBytes = 16;

constexpr std::string_view kControlNames[] = {"load",       "store",         "constant",      "index",
                                              "row_count",  "reduce_sum",    "reduce_prod",   "reduce_max",
                                              "reduce_min", "reduce_argmax", "reduce_argmin", "cast"};

bool is_control(uint16_t op) {
  return op >= kFirstControlOp && op - kFirstControlOp < static_cast<int>(std::size(kControlNames));
}

class Writer {
 public:
  template <class T>
  void put(T value) {
    std::byte bytes[sizeof value];
    store_as(bytes, value);
    for (const std::byte b : bytes) bytes_.push_back(b);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads from a span whose size was checked beforehand.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : p_(bytes.data()) {}
  template <class T>
  T get() {
    const T value = load_as<T>(p_);
    p_ += sizeof value;
    return value;
  }

 private:
  const std::byte* p_;
};

Diagnostic malformed(std::string found) {
  return fail(Code::plan_malformed).say("loop program is malformed").because(std::move(found));
}
std::string at(const char* record, size_t index, const char* text) {
  return std::string(record) + " " + std::to_string(index) + ": " + text;
}

Status read_operands(Reader& in, std::vector<LoopOperand>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto dtype = in.get<uint8_t>(), output = in.get<uint8_t>(), row_level = in.get<uint8_t>();
    if (dtype >= kDTypeCount) return malformed(at("operand", i, "unknown dtype"));
    if (output > 1 || row_level > 1) return malformed(at("operand", i, "a flag is neither 0 nor 1"));
    operands[i] = {static_cast<DType>(dtype), output != 0, row_level != 0};
  }
  return {};
}

Status read_code(Reader& in, std::vector<LoopInstruction>& code) {
  for (size_t i = 0; i < code.size(); ++i) {
    LoopInstruction& c = code[i];
    c.op = in.get<uint16_t>();
    const auto type = in.get<uint8_t>();
    c.sweep = in.get<uint8_t>();
    const auto element = in.get<uint8_t>(), padding = in.get<uint8_t>();
    c.a = in.get<uint16_t>();
    c.b = in.get<uint16_t>();
    c.c = in.get<uint16_t>();
    c.imm = in.get<uint32_t>();
    if (!is_control(c.op) && scalar_op_info(c.op) == nullptr)
      return malformed(at("instruction", i, "unknown opcode"));
    if (type >= kDTypeCount) return malformed(at("instruction", i, "unknown type"));
    if (element > 1 || padding != 0) return malformed(at("instruction", i, "a flag is neither 0 nor 1"));
    c.type = static_cast<DType>(type);
    c.element = element != 0;
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode_loop(const LoopProgram& program) {
  Writer out;
  for (const char c : kMagic) out.put(c);
  out.put(program.outer_rank);
  out.put(program.row_rank);
  out.put(program.sweeps);
  out.put(static_cast<uint8_t>(program.operands.size()));
  out.put(static_cast<uint16_t>(program.constants.size()));
  out.put(static_cast<uint16_t>(program.code.size()));
  for (const LoopOperand& o : program.operands) {
    out.put(static_cast<uint8_t>(o.dtype));
    out.put(static_cast<uint8_t>(o.output));
    out.put(static_cast<uint8_t>(o.row_level));
  }
  for (const LoopConstant& c : program.constants) {
    out.put(static_cast<uint8_t>(c.type));
    out.put(c.bits);
  }
  for (const LoopInstruction& c : program.code) {
    out.put(c.op);
    out.put(static_cast<uint8_t>(c.type));
    out.put(c.sweep);
    out.put(static_cast<uint8_t>(c.element));
    out.put(uint8_t{0});
    out.put(c.a);
    out.put(c.b);
    out.put(c.c);
    out.put(c.imm);
  }
  return out.take();
}

Result<LoopProgram> decode_loop(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return malformed("no loop program's header");
  }
  Reader in(bytes.subspan(sizeof kMagic));
  LoopProgram program;
  program.outer_rank = in.get<uint8_t>();
  program.row_rank = in.get<uint8_t>();
  program.sweeps = in.get<uint8_t>();
  const size_t operands = in.get<uint8_t>(), constants = in.get<uint16_t>(), code = in.get<uint16_t>();
  if (operands > kMaxLoopOperands || constants > kMaxLoopInstructions || code > kMaxLoopInstructions) {
    return malformed("more operands, constants or instructions than allowed");
  }
  const size_t expected =
      kHeaderBytes + operands * kOperandBytes + constants * kConstantBytes + code * kInstructionBytes;
  if (bytes.size() != expected) {
    return malformed("found " + std::to_string(bytes.size()) + " bytes; its counts ask for " +
                     std::to_string(expected));
  }
  program.operands.resize(operands);
  program.constants.resize(constants);
  program.code.resize(code);
  GE_TRY(read_operands(in, program.operands));
  for (size_t i = 0; i < constants; ++i) {
    const auto type = in.get<uint8_t>();
    if (type >= kDTypeCount) return malformed(at("constant", i, "unknown type"));
    program.constants[i] = {static_cast<DType>(type), in.get<uint64_t>()};
  }
  GE_TRY(read_code(in, program.code));
  return program;
}

namespace {

std::string op_name(uint16_t op) {
  if (is_control(op)) return std::string(kControlNames[op - kFirstControlOp]);
  const ScalarOpInfo* info = scalar_op_info(op);
  return info ? std::string(info->name) : "op" + std::to_string(op);
}

std::optional<uint16_t> op_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kControlNames); ++i) {
    if (kControlNames[i] == name) return static_cast<uint16_t>(kFirstControlOp + i);
  }
  const ScalarOpInfo* info = scalar_op_from_name(name);
  return info ? std::optional(static_cast<uint16_t>(info->op)) : std::nullopt;
}

// The value for people, where it reads well; the text's meaning is in the bits that follow.
std::string constant_comment(const LoopConstant& c) {
  char text[40] = "";
  if (c.type == DType::float32)
    std::snprintf(text, sizeof text, "%.9g", std::bit_cast<float>(static_cast<uint32_t>(c.bits)));
  else if (c.type == DType::float64)
    std::snprintf(text, sizeof text, "%.17g", std::bit_cast<double>(c.bits));
  else
    std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(c.bits));
  return text;
}

}  // namespace

// loop outer=1 row=1 sweeps=3
//   operand 0 in float16
//   operand 1 out float32 row
//   constant 0 float32 0x3f000000 ; 0.5
//   %0 e0 float32 load 0          <- element level, sweep 0; immediate operands without %
//   %1 r1 float32 reduce_max %0
std::string to_text(const LoopProgram& program) {
  std::ostringstream out;
  out << "loop outer=" << int{program.outer_rank} << " row=" << int{program.row_rank}
      << " sweeps=" << int{program.sweeps} << "\n";
  for (size_t i = 0; i < program.operands.size(); ++i) {
    const LoopOperand& o = program.operands[i];
    out << "  operand " << i << (o.output ? " out " : " in ") << name_of(o.dtype)
        << (o.row_level ? " row" : "") << "\n";
  }
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const LoopConstant& c = program.constants[i];
    out << "  constant " << i << " " << name_of(c.type) << " 0x" << std::hex << c.bits << std::dec << " ; "
        << constant_comment(c) << "\n";
  }
  for (size_t i = 0; i < program.code.size(); ++i) {
    const LoopInstruction& c = program.code[i];
    out << "  %" << i << (c.element ? " e" : " r") << int{c.sweep} << " " << name_of(c.type) << " "
        << op_name(c.op);
    for (const uint16_t r : {c.a, c.b, c.c}) {
      if (r != kNoRegister) out << " %" << r;
    }
    const auto op = static_cast<LoopOp>(c.op);
    if (op == LoopOp::kCast)
      out << " " << (c.imm < kDTypeCount ? name_of(static_cast<DType>(c.imm)) : "?");
    else if (op == LoopOp::kLoad || op == LoopOp::kStore || op == LoopOp::kConstant || op == LoopOp::kIndex ||
             c.imm != 0)
      out << " " << c.imm;
    out << "\n";
  }
  return out.str();
}

namespace {

// One line of to_text's form into `program`; false where it is not one.
bool parse_operand(std::istringstream& words, LoopProgram& program) {
  size_t index = 0;
  std::string direction, dtype, level;
  words >> index >> direction >> dtype >> level;
  const auto type = dtype_from_name(dtype);
  if (!type || index != program.operands.size() || (direction != "in" && direction != "out") ||
      (!level.empty() && level != "row"))
    return false;
  program.operands.push_back({*type, direction == "out", level == "row"});
  return true;
}

bool parse_constant(std::istringstream& words, LoopProgram& program) {
  size_t index = 0;
  std::string dtype, bits;
  words >> index >> dtype >> bits;
  const auto type = dtype_from_name(dtype);
  if (!type || index != program.constants.size() || bits.size() < 3) return false;
  program.constants.push_back({*type, std::strtoull(bits.c_str(), nullptr, 16)});
  return true;
}

bool parse_instruction(std::istringstream& words, LoopProgram& program) {
  std::string level, type_name, op, word;
  words >> level >> type_name >> op;
  const auto type = dtype_from_name(type_name);
  const auto code = op_from_name(op);
  if (!type || !code || level.size() < 2 || (level[0] != 'e' && level[0] != 'r')) return false;
  LoopInstruction c{.op = *code,
                    .type = *type,
                    .sweep = static_cast<uint8_t>(std::atoi(level.c_str() + 1)),
                    .element = level[0] == 'e'};
  uint16_t* next[] = {&c.a, &c.b, &c.c};
  for (size_t used = 0; words >> word;) {
    if (word[0] == '%') {
      if (used == 3) return false;
      *next[used++] = static_cast<uint16_t>(std::atoi(word.c_str() + 1));
    } else if (const auto dtype = dtype_from_name(word)) {
      c.imm = static_cast<uint32_t>(*dtype);
    } else {
      c.imm = static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10));
    }
  }
  program.code.push_back(c);
  return true;
}

bool parse_line(const std::string& line, LoopProgram& program) {
  std::istringstream words(line);
  std::string first;
  if (!(words >> first)) return true;
  if (first == "operand") return parse_operand(words, program);
  if (first == "constant") return parse_constant(words, program);
  if (first == "%" + std::to_string(program.code.size())) return parse_instruction(words, program);
  int outer = 0, row = 0, sweeps = 0;
  if (std::sscanf(line.c_str(), "loop outer=%d row=%d sweeps=%d", &outer, &row, &sweeps) != 3) return false;
  program.outer_rank = static_cast<uint8_t>(outer);
  program.row_rank = static_cast<uint8_t>(row);
  program.sweeps = static_cast<uint8_t>(sweeps);
  return true;
}

}  // namespace

Result<LoopProgram> loop_from_text(std::string_view text) {
  LoopProgram program;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string code = line.substr(0, line.find(';'));
    if (!parse_line(code, program))
      return fail(Code::ir_syntax).because("loop program, line " + std::to_string(number) + ": " + line);
  }
  return program;
}

}  // namespace ge
