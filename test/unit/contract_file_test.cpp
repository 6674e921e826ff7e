// Plan files: what is written is read back; damage is refused with the right code; size and speed of large
// plans.
#include <ctime>
#include <utility>

#include "catch.h"
#include "contract/hash.h"
#include "contract/plan_read.h"
#include "contract_sample.h"
#include "document/writer.h"
#include "plan_mutation.h"

using namespace ge;
using namespace ge::test;

namespace {

std::vector<std::byte> with_program(std::vector<std::byte> file, ByteSpan program) {
  auto read = read_plan_bytes(file);
  REQUIRE_OK(read);
  PlanHeader header = read->header;
  std::vector<std::byte> code(read->code.span().begin(), read->code.span().end());
  std::vector<std::byte> sums(header.section(SectionKind::kChecksums).size_bytes);
  REQUIRE_OK(read->source->read_at(header.section(SectionKind::kChecksums).offset, sums));
  std::vector<std::byte> weights(header.section(SectionKind::kWeights).size_bytes);
  REQUIRE_OK(read->source->read_at(header.section(SectionKind::kWeights).offset, weights));
  header.section(SectionKind::kProgram).size_bytes = program.size();
  header.section(SectionKind::kProgram).hash = hash64(program);
  place_sections(header);
  const auto head = encode_header(header);
  std::vector<std::byte> out(header.file_size_bytes);
  std::copy(head.begin(), head.end(), out.begin());
  const auto put = [&](SectionKind kind, ByteSpan bytes) {
    std::copy(bytes.begin(), bytes.end(),
              out.begin() + static_cast<std::ptrdiff_t>(header.section(kind).offset));
  };
  put(SectionKind::kCode, code);
  put(SectionKind::kProgram, program);
  put(SectionKind::kChecksums, sums);
  put(SectionKind::kWeights, weights);
  return out;
}

std::string found(const std::vector<std::byte>& cbor) {
  const auto plan = decode_program(cbor);
  REQUIRE_CODE(plan, Code::plan_malformed);
  return plan.error().first().path + ": " + plan.error().first().found;
}

// The program section as a document whose root object is changed member by member.
template <class F>
std::vector<std::byte> edited(F&& edit) {
  Sample sample = sample_plan();
  sample.file();
  const std::vector<std::byte> program = encode_program(sample.plan);
  auto document = parse_cbor(program);
  REQUIRE_OK(document);
  DocumentBuilder b;
  b.begin_object();
  edit(document->root(), b);
  b.end_object();
  return to_cbor(std::move(b).finish());
}

}  // namespace

TEST_CASE("a plan is read back as it was written") {
  Sample sample = sample_plan();
  const auto file = sample.file();
  auto read = read_plan_bytes(file);
  REQUIRE_OK(read);
  CHECK(encode_program(read->plan) == encode_program(sample.plan));
  const Plan& plan = read->plan;
  CHECK(plan.model_name == "sample");
  REQUIRE(plan.programs.size() == 2);
  CHECK(plan.programs[0].run.steps.size() == 7);
  CHECK(plan.programs[0].run.steps[0].launch[0].choices[0].guard[0].relation == Relation::kLess);
  CHECK(std::get<std::string>(*find_attr(plan.programs[0].run.steps[1].launch[0].choices[0].attrs, "mode")) ==
        "fast");
  CHECK(plan.programs[0].signature.inputs[0].hint.low == -1);
  CHECK(plan.kernels[0].generated[0].operands[3].in_place_of == 0);
  CHECK(plan.images[1].size_bytes == 100);
  CHECK(plan.blobs[1].offset == 4096);
  CHECK(read->code.size() % 64 == 100 % 64);
  WeightReader reader(*read);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<std::byte> bytes(64);
    REQUIRE_OK(reader.read(plan.blobs[i], bytes));
    CHECK(bytes == sample.blob_bytes[i]);
  }
}

TEST_CASE("writing the same plan twice gives the same bytes") {
  Sample a = sample_plan(), b = sample_plan();
  const auto first = a.file();
  CHECK(first == b.file());
  CHECK(first == a.file());
}

TEST_CASE("a plan without weights or code ends at its program") {
  Sample sample = sample_plan();
  Plan& plan = sample.plan;
  plan.images.clear();
  plan.blobs.clear();
  auto read = read_plan_bytes(sample.file());
  REQUIRE_OK(read);
  CHECK(read->code.size() == 0);
  CHECK(read->weight_checksums.empty());
}

TEST_CASE("weights are checked chunk by chunk while copied") {
  Sample sample = sample_plan();
  const int64_t big = (5 << 20) / 4;
  sample.plan.blobs.push_back({"", DType::float32, {big}, 0, 0});
  sample.plan.blobs.push_back({"", DType::uint8, {3}, 0, 0});
  sample.blob_bytes.emplace_back(static_cast<size_t>(big) * 4, std::byte{42});
  sample.blob_bytes.emplace_back(3, std::byte{9});
  auto file = sample.file();
  auto read = read_plan_bytes(file);
  REQUIRE_OK(read);
  REQUIRE(read->weight_checksums.size() == 2);
  WeightReader reader(*read);
  for (const size_t i : {3, 0, 2, 1}) {
    std::vector<std::byte> bytes(sample.blob_bytes[i].size());
    REQUIRE_OK(reader.read(read->plan.blobs[i], bytes));
    CHECK(bytes == sample.blob_bytes[i]);
  }
  file[read->header.section(SectionKind::kWeights).offset + (4 << 20) + 5] ^= std::byte{1};
  read = read_plan_bytes(file);
  REQUIRE_OK(read);
  WeightReader damaged(*read);
  std::vector<std::byte> bytes(64);
  CHECK(damaged.read(read->plan.blobs[0], bytes).ok());
  bytes.resize(static_cast<size_t>(big) * 4);
  REQUIRE_CODE(damaged.read(read->plan.blobs[2], bytes), Code::plan_checksum);
}

TEST_CASE("what is no plan, of another version, cut or damaged has its own code") {
  Sample sample = sample_plan();
  const auto file = sample.file();
  REQUIRE_CODE(read_plan_bytes({}), Code::not_a_plan);
  REQUIRE_CODE(read_plan_bytes(as_bytes("{ \"format\": \"ge-graph/1\" }")), Code::not_a_plan);
  auto other = file;
  other[8] = std::byte{2};
  const auto version = read_plan_bytes(other);
  REQUIRE_CODE(version, Code::plan_version);
  CHECK(version.error().first().found == "the plan has format 2, this ge reads format 1");
  REQUIRE_CODE(read_plan_bytes(ByteSpan(file).first(100)), Code::plan_truncated);
  REQUIRE_CODE(read_plan_bytes(ByteSpan(file).first(file.size() - 1)), Code::plan_truncated);
  auto longer = file;
  longer.push_back(std::byte{0});
  REQUIRE_CODE(read_plan_bytes(longer), Code::plan_malformed);
  auto header = file;
  header[40] ^= std::byte{1};
  REQUIRE_CODE(read_plan_bytes(header), Code::plan_checksum);
  auto program = file;
  auto read = read_plan_bytes(file);
  REQUIRE_OK(read);
  program[read->header.section(SectionKind::kProgram).offset + 3] ^= std::byte{1};
  const auto damaged = read_plan_bytes(program);
  REQUIRE_CODE(damaged, Code::plan_checksum);
  CHECK(damaged.error().first().found == "section program is damaged");
  auto padding = file;
  padding[read->header.section(SectionKind::kWeights).offset - 1] = std::byte{1};
  REQUIRE_CODE(read_plan_bytes(padding), Code::plan_malformed);
}

TEST_CASE("every truncation is refused") {
  Sample sample = sample_plan();
  const auto file = sample.file();
  for_each_truncation(file, [](ByteSpan bytes) {
    const auto read = read_plan_bytes(bytes);
    REQUIRE_FALSE(read.ok());
    const Code code = read.error().first().code;
    REQUIRE((code == Code::plan_truncated || code == Code::not_a_plan));
  });
}

TEST_CASE("keys are all there, known, once and in order") {
  const auto copy_all = [](Value root, DocumentBuilder& b) {
    for (Value v : root) b.key(v.key()).copy(v);
  };
  CHECK(decode_program(edited(copy_all)).ok());
  CHECK(found(edited([](Value root, DocumentBuilder& b) {
          for (Value v : root)
            if (v.key() != "blobs") b.key(v.key()).copy(v);
        })) == "/program: missing: \"blobs\"");
  CHECK(found(edited([&](Value root, DocumentBuilder& b) {
          copy_all(root, b);
          b.key("extra").value(1);
        })) == "/program/extra: unknown key \"extra\"");
  CHECK(found(edited([](Value root, DocumentBuilder& b) {
          b.key("made_by").copy(*root.find("made_by"));
          for (Value v : root)
            if (v.key() != "made_by") b.key(v.key()).copy(v);
        })) == "/program: key out of order, or an unknown one before it: \"model_name\"");
  CHECK(found(edited([](Value root, DocumentBuilder& b) {
          for (Value v : root) {
            if (v.key() == "model_name")
              b.key(v.key()).value(3);
            else
              b.key(v.key()).copy(v);
          }
        })) == "/program/model_name: a string is needed, found 3");
}

TEST_CASE("CBOR that is damaged, deep or lies about its length is refused") {
  const auto refuse = [](std::vector<int> bytes) {
    std::vector<std::byte> cbor;
    for (const int b : bytes) cbor.push_back(static_cast<std::byte>(b));
    REQUIRE_CODE(decode_program(cbor), Code::plan_malformed);
  };
  refuse({});
  refuse({0x00});
  refuse({0xbf, 0xff});
  refuse({0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  refuse({0xa2, 0x61, 'a', 0x00, 0x61, 'a', 0x00});
  REQUIRE_CODE(decode_program(std::vector<std::byte>(1 << 20, std::byte{0x81})), Code::plan_malformed);
  Sample sample = sample_plan();
  const auto file = sample.file();
  auto trailing = encode_program(sample.plan);
  trailing.push_back(std::byte{0});
  REQUIRE_CODE(read_plan_bytes(with_program(file, trailing)), Code::plan_malformed);
  CHECK(read_plan_bytes(with_program(file, encode_program(sample.plan))).ok());
}

TEST_CASE("a plan of 50,000 launches is read quickly") {
  Sample sample = sample_plan();
  Program& p = sample.plan.programs[0];
  Step launch = p.run.steps[1];
  launch.launch[0].after.clear();
  p.run.steps.assign(50000, launch);
  p.blocks.clear();
  const auto file = sample.file();
  auto clock = [begin = std::clock()]() mutable {  // processor time: other programs do not count
    const auto end = std::clock();
    return 1000.0 * static_cast<double>(end - std::exchange(begin, end)) / CLOCKS_PER_SEC;
  };
  auto read = read_plan_bytes(file);
  const double read_ms = clock();
  REQUIRE_OK(read);
  auto kernels = verify_plan(read->plan, read->code.span(), test_kernels());
  const double verify_ms = clock();
  REQUIRE_OK(kernels);
  const auto binding = ge::bind(read->plan, *kernels, 0, optimal_symbols(read->plan.programs[0]), {});
  const double bind_ms = clock();
  REQUIRE_OK(binding);
  INFO("50,000 launches: " << file.size() / 1000 << " kB, read " << read_ms << " ms, verify " << verify_ms
                           << " ms, bind " << bind_ms << " ms");
  // Far above what an optimised build takes (a sanitizer's takes more), far below what anything quadratic
  // would.
  CHECK(read_ms < 10000);
  CHECK(verify_ms < 10000);
  CHECK(bind_ms < 10000);
}
