// Reading a plan file. Entry: read_plan -> PlanFile; WeightReader copies blobs and checks them while copying.
// Invariant: bytes of header, program and code were checked against their checksums and every record has its
// exact shape; what the records say is not yet believed: plan_verify.h comes next.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "contract/plan.h"
#include "contract/plan_layout.h"
#include "platform/file.h"

namespace ge {

// Where a plan's bytes are: a file read at offsets (never mapped), or memory. Safe to read from many threads.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual const std::string& name() const = 0;
  virtual uint64_t size() const = 0;
  virtual Status read_at(uint64_t offset, MutableByteSpan into) const = 0;
  virtual ByteSpan held() const { return {}; }  // all bytes, where they are in memory
};
std::shared_ptr<const PlanSource> plan_source(File file);
std::shared_ptr<const PlanSource> plan_source(ByteBuffer bytes, std::string name = "<memory>");

struct PlanFile {
  PlanHeader header;
  Plan plan;
  ByteBuffer code;                         // the code section; Image::offset counts from here
  std::vector<uint64_t> weight_checksums;  // one per chunk of the weights section
  std::shared_ptr<const PlanSource> source;
};

// Errors: those of parse_header, plan_checksum, plan_truncated, plan_malformed (with the record's path), and
// the source's own.
Result<PlanFile> read_plan(std::shared_ptr<const PlanSource> source);
Result<PlanFile> read_plan_file(const std::string& path);
Result<PlanFile> read_plan_bytes(ByteSpan bytes);  // copies them
// The program section alone: CBOR -> Plan.
Result<Plan> decode_program(ByteSpan cbor);

// Copies blobs out of the weights section; every 4 MiB chunk that is touched is checked. Fastest when blobs
// are asked for in order. One thread at a time; several readers of one file may work side by side. The
// PlanFile must outlive it.
class WeightReader {
 public:
  explicit WeightReader(const PlanFile& file) : file_(file) {}
  // `into` has blob.size_bytes bytes. Errors: plan_checksum, plan_malformed (outside the section), the
  // source's own.
  Status read(const Blob& blob, MutableByteSpan into);

 private:
  Status load_chunk(uint64_t index, MutableByteSpan into);
  const PlanFile& file_;
  ByteBuffer chunk_;
  uint64_t loaded_ = UINT64_MAX;
};

}  // namespace ge
