// ge-inspect's text: sections, then each program's signature, steps, memory and needs.
#include "contract/plan_print.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "contract/plan_names.h"
#include "contract/plan_text.h"
#include "contract/plan_verify.h"
#include "contract/source_nodes.h"

namespace ge {
namespace {

size_t launch_count(const Plan& plan) {
  size_t count = 0;
  for (const Program& p : plan.programs) {
    const auto add = [&](const Block& b) {
      for (const Step& s : b.steps) count += s.launch.size();
    };
    add(p.prepare);
    add(p.run);
    for (const Block& b : p.blocks) add(b);
  }
  return count;
}

std::string print_sections(const PlanFile& file) {
  std::string text = fmt::format(" {:<10} {:<12} {:>9}  items\n", "section", "offset", "size");
  const Plan& plan = file.plan;
  const size_t items[] = {plan.images.size(), launch_count(plan), file.weight_checksums.size(),
                          plan.blobs.size()};
  static constexpr const char* kOne[] = {"image", "launch", "chunk", "weight"};
  static constexpr const char* kMany[] = {"images", "launches", "chunks", "weights"};
  for (size_t i = 0; i < kSectionCount; ++i) {
    const Section& s = file.header.sections[i];
    text += fmt::format(" {:<10} 0x{:06x}     {:>9}  {}\n", name_of(s.kind), s.offset,
                        bytes_text(static_cast<double>(s.size_bytes)),
                        counted(static_cast<int64_t>(items[i]), kOne[i], kMany[i]));
  }
  return text;
}

class ProgramPrinter {
 public:
  ProgramPrinter(const Plan& plan, const Program& program) : plan_(plan), p_(program), text_(plan, program) {}

  std::string print() {
    out_ = "\n";
    line("program " + p_.target);
    for (const Symbol& s : p_.symbols) {
      const std::string range =
          s.max == INT64_MAX ? fmt::format("{} and up", s.min) : fmt::format("{} .. {}", s.min, s.max);
      line(fmt::format(" dim       {}  {}, best {}", s.name, range, s.opt));
    }
    for (const Port& port : p_.signature.inputs) print_port("input", port);
    for (const Port& port : p_.signature.outputs) print_port("output", port);
    for (const Assertion& a : p_.assertions)
      line(fmt::format(" requires  {}", a.message.empty() ? "a relation between dims" : a.message));
    print_block("prepare", p_.prepare);
    print_block("run", p_.run);
    for (size_t i = 0; i < p_.blocks.size(); ++i) print_block("block " + std::to_string(i), p_.blocks[i]);
    print_memory();
    print_needs();
    return std::move(out_);
  }

 private:
  // Names come from a file.
  void line(const std::string& text) { out_ += visible_line(text) + "\n"; }

  void print_port(const char* what, const Port& port) {
    line(fmt::format(" {:<9} {}  {}{}", what, port.name, name_of(port.dtype), text_.dims(port.dims)));
  }

  void print_block(const std::string& name, const Block& block) {
    if (block.steps.empty()) return;
    line(" " + name);
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const Step& s = block.steps[i];
      std::string text = fmt::format("  [{}] {}", i, text_.step(s));
      const std::string nodes = join_nodes(source_nodes(s));
      if (!nodes.empty()) text += "  " + nodes;
      if (!s.launch.empty()) text += figures(s.launch[0]);
      line(text);
    }
  }
  std::string figures(const Launch& l) {
    std::string text;
    if (const auto flops = text_.value(l.flops))
      text += "   " + count_text(static_cast<double>(*flops)) + "FLOP";
    const auto read = text_.value(l.bytes_read), written = text_.value(l.bytes_written);
    if (read || written)
      text +=
          "  " + bytes_text(static_cast<double>(read.value_or(0)) + static_cast<double>(written.value_or(0)));
    return text;
  }

  std::string size_text(ExprId id) {
    const auto size = text_.value(id);
    return size ? bytes_text(static_cast<double>(*size)) : "?";
  }
  void print_memory() {
    const std::string symbols = text_.symbols();
    line(" memory" + (symbols.empty() ? "" : " at " + symbols));
    for (size_t i = 0; i < p_.slots.size(); ++i) {
      std::vector<std::string> names;
      for (size_t b = 0; b < p_.buffers.size(); ++b) {
        if (p_.buffers[b].region == Region::kArena && p_.buffers[b].slot == i)
          names.push_back(text_.buffer(b));
      }
      line(fmt::format("  {:<12} {:>9}  {}", "slot " + std::to_string(i), size_text(p_.slots[i].size_bytes),
                       joined(names, " ")));
    }
    for (const Region region :
         {Region::kWeights, Region::kPrepared, Region::kInput, Region::kOutput, Region::kHost})
      print_region(region);
  }
  void print_region(Region region) {
    double total = 0;
    std::vector<std::string> names;
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      if (b.region != region || b.alias_of != kNoBuffer) continue;
      total += static_cast<double>(text_.value(b.size_bytes).value_or(0));
      names.push_back(text_.buffer(i));
    }
    if (names.empty()) return;
    const bool many = names.size() > 8;
    line(fmt::format("  {:<12} {:>9}  {}", name_in_plan(region), bytes_text(total),
                     many ? std::to_string(names.size()) + " tensors" : joined(names, " ")));
  }

  // Which kernels this program launches decides what the machine must have.
  void print_needs() {
    std::set<std::string> libraries;
    bool generated = false;
    const auto look = [&](const Block& block) {
      for (const Step& s : block.steps) {
        for (const Launch& l : s.launch) {
          for (const Choice& c : l.choices) {
            const KernelRef& k = plan_.kernels[c.kernel];
            if (k.kind == KernelKind::kLibrary)
              libraries.insert(k.name.find("cublaslt") != std::string::npos ? "cuBLASLt" : k.name);
            generated |= k.kind == KernelKind::kGenerated;
          }
        }
      }
    };
    look(p_.prepare);
    look(p_.run);
    for (const Block& b : p_.blocks) look(b);
    const auto target = parse_target(p_.target);
    const bool gpu = target && target->device == KernelDevice::kCuda;
    std::string text = " needs     " + (gpu ? "an NVIDIA driver for " + p_.target : std::string("a CPU"));
    for (const std::string& library : libraries) text += ", " + library;
    if (gpu && generated) text += "; holds generated device code";
    line(text);
  }

  const Plan& plan_;
  const Program& p_;
  ProgramText text_;
  std::string out_;
};

}  // namespace

std::string print_plan(const PlanFile& file) {
  const Plan& plan = file.plan;
  std::string targets;
  for (const Program& p : plan.programs) targets += " " + p.target;
  std::string text =
      fmt::format("plan format {}  targets{}  made by {}", file.header.format, targets, plan.made_by);
  if (!plan.model_name.empty()) text += "  model " + plan.model_name;
  text = visible_line(text) + "\n" + print_sections(file);
  for (const Program& p : plan.programs) text += ProgramPrinter(plan, p).print();
  return text;
}

}  // namespace ge
