// The fields of every plan record, once. Entry: visit_fields(visitor, record).
// The writer, the reader, --json, the schema, the docs test and the index checks all walk records through
// here, in this order: it is the order of keys in the file. Invariant: a member of a record in plan.h that a
// file must hold is listed.
//
// A visitor has: v(name, field, text) for plain values, records and lists of them; v.index(...) for an index
// that may be none; v.expr(...) and v.exprs(...) for expressions; v.expr_table(...); and, for a record that
// is one of several kinds, v.alternative(name, this_kind, kind, list, text) per kind.
#pragma once
#include <concepts>
#include <type_traits>

#include "contract/plan.h"

namespace ge {

template <class T, class Record>
concept FieldsOf = std::same_as<std::remove_const_t<T>, Record>;

// Records written as a plain array of their fields (there are many of them); in JSON they have names like all
// others.
template <class T>
inline constexpr bool kIsTuple = std::same_as<T, TensorRef> || std::same_as<T, Predicate>;
template <class T>
inline constexpr bool kIsAlternative = std::same_as<T, Step>;

template <class V, FieldsOf<Predicate> R>
void visit_fields(V& v, R& x) {
  v.expr("lhs", x.lhs, "left side");
  v("relation", x.relation, "how the sides must compare");
  v.expr("rhs", x.rhs, "right side");
}

template <class V, FieldsOf<Blob> R>
void visit_fields(V& v, R& x) {
  v("hash", x.hash, "xxh3-128 of the bytes");
  v("dtype", x.dtype, "element type");
  v("dims", x.dims, "extents; the bytes are dense row-major");
  v("offset", x.offset, "from the start of the weights section");
  v("size_bytes", x.size_bytes, "length in the weights section");
}

template <class V, FieldsOf<TensorRef> R>
void visit_fields(V& v, R& x) {
  v.index("buffer", x.buffer, "which buffer; none: an absent optional operand");
  v.expr("offset_bytes", x.offset_bytes, "of the first element, from the buffer's start");
  v("dtype", x.dtype, "element type");
  v.exprs("dims", x.dims, "extents");
  v.exprs("strides", x.strides, "in elements; 0 repeats, negative runs backwards");
}

template <class V, FieldsOf<Buffer> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "the value's name in the model");
  v("region", x.region, "whose memory");
  v.expr("size_bytes", x.size_bytes, "size");
  v.index("slot", x.slot, "arena: which slot");
  v.expr("offset_bytes", x.offset_bytes, "arena: from the slot's start; none: 0");
  v.index("blob", x.blob, "weights: which blob");
  v.index("alias_of", x.alias_of, "state: the input whose storage this output shares");
}

template <class V, FieldsOf<Slot> R>
void visit_fields(V& v, R& x) {
  v.expr("size_bytes", x.size_bytes,
         "size; slots follow one another in the arena, each at a multiple of 256");
}

template <class V, FieldsOf<Image> R>
void visit_fields(V& v, R& x) {
  v("hash", x.hash, "xxh3-128 of the bytes");
  v("format", x.format, "cubin, ptx or bytecode");
  v("arch", x.arch, "sm_90 and the like; empty for bytecode");
  v("offset", x.offset, "from the start of the code section");
  v("size_bytes", x.size_bytes, "length in the code section");
}

template <class V, FieldsOf<OperandDesc> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name");
  v("role", x.role, "what the kernel does with it");
  v("dtypes", x.dtypes, "element types taken");
  v("min_rank", x.min_rank, "smallest rank");
  v("max_rank", x.max_rank, "largest rank");
  v("align_bytes", x.align_bytes, "alignment of its address");
  v("in_place_of", x.in_place_of, "the operand whose bytes this output may share; -1: none");
  v("optional", x.optional, "may be absent");
}

template <class V, FieldsOf<AttrDesc> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name");
  v("type", x.type, "type");
  v("min", x.min, "smallest integer");
  v("max", x.max, "largest integer");
  v("required", x.required, "must be given");
}

template <class V, FieldsOf<ArgDesc> R>
void visit_fields(V& v, R& x) {
  v("offset", x.offset, "in the argument struct, bytes");
  v("type", x.type, "type of the field");
  v("source", x.source, "what fills it");
  v("operand", x.operand, "operand, or -1");
  v("a", x.a, "axis, or element of an attribute");
  v("b", x.b, "count: one past the last axis; -1: the rank");
  v("attr", x.attr, "attribute");
}

template <class V, FieldsOf<Requirement> R>
void visit_fields(V& v, R& x) {
  v("kind", x.kind, "what must hold");
  v("operand", x.operand, "operand");
  v("from", x.from, "axis, or the first of several");
  v("to", x.to, "one past the last axis; merges: the inner axis");
  v("value", x.value, "elements; same_dims: the other operand");
}

template <class V, FieldsOf<KernelLimits> R>
void visit_fields(V& v, R& x) {
  v("min_arch", x.min_arch, "lowest compute capability times ten; 0 on the CPU");
  v("max_threads", x.max_threads, "threads per block at most");
  v("dynamic_shared_memory", x.dynamic_shared_memory, "bytes per block at most");
}

template <class V, FieldsOf<KernelDesc> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name");
  v("revision", x.revision, "revision");
  v("kind", x.kind, "where the kernel comes from");
  v("device", x.device, "where it runs");
  v("operands", x.operands, "operands in order");
  v("attrs", x.attrs, "attributes");
  v("args_size", x.args_size, "bytes of the argument struct");
  v("args", x.args, "how the argument struct is filled");
  v("requirements", x.requirements, "what its code takes for granted of the operands' views");
  v("limits", x.limits, "limits");
  v("symbol", x.symbol, "entry in its image");
  v("waits_for_predecessor", x.waits_for_predecessor, "may be launched before its predecessor ends");
}

template <class V, FieldsOf<KernelRef> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name, resolved at load");
  v("revision", x.revision, "revision, resolved at load");
  v("kind", x.kind, "where the kernel comes from");
  v("generated", x.generated, "generated: its description; else empty");
  v.index("image", x.image, "generated: which image");
}

template <class V, FieldsOf<Choice> R>
void visit_fields(V& v, R& x) {
  v("guard", x.guard, "all must hold; empty: always");
  v("kernel", x.kernel, "which kernel");
  v("operands", x.operands, "tensors, as the kernel's description orders them");
  v("attrs", x.attrs, "attributes by name");
  v.exprs("grid", x.grid, "blocks");
  v("block", x.block, "threads per block");
  v("cluster", x.cluster, "blocks per cluster");
  v.expr("dynamic_shared_memory", x.dynamic_shared_memory, "bytes per block; none: 0");
  v("cooperative", x.cooperative, "all blocks must be resident together");
  v("algo", x.algo, "library kernels: the algorithm's attributes; empty: the library's first choice");
}

template <class V, FieldsOf<Shadow> R>
void visit_fields(V& v, R& x) {
  v("kernel", x.kernel, "which reference kernel");
  v("operands", x.operands, "tensors");
  v("attrs", x.attrs, "attributes by name");
}

template <class V, FieldsOf<Launch> R>
void visit_fields(V& v, R& x) {
  v("choices", x.choices, "in order; the first whose guard holds is launched");
  v("lane", x.lane, "stream");
  v("after", x.after, "earlier steps on other lanes that must be done");
  v("dependent_launch", x.dependent_launch, "may start before the launch just before it ends");
  v("source_nodes", x.source_nodes, "nodes of the model that this computes");
  v.expr("flops", x.flops, "operations");
  v.expr("bytes_read", x.bytes_read, "bytes");
  v.expr("bytes_written", x.bytes_written, "bytes");
  v("type_read", x.type_read, "element type read");
  v("type_accumulated", x.type_accumulated, "element type of sums");
  v("type_written", x.type_written, "element type written");
  v("shadow", x.shadow, "reference launches that compute the same values");
}

template <class V, FieldsOf<Copy> R>
void visit_fields(V& v, R& x) {
  v("from", x.from, "source; dense");
  v("to", x.to, "destination; dense, same dims and dtype");
  v("source_nodes", x.source_nodes, "nodes of the model that this computes");
}

template <class V, FieldsOf<Fill> R>
void visit_fields(V& v, R& x) {
  v("to", x.to, "destination; dense");
  v("bits", x.bits, "bit pattern of the element");
  v("source_nodes", x.source_nodes, "nodes of the model that this computes");
}

template <class V, FieldsOf<ReadDims> R>
void visit_fields(V& v, R& x) {
  v("from", x.from, "int64 values, one per symbol");
  v("symbols", x.symbols, "which symbols take them");
  v("source_nodes", x.source_nodes, "nodes of the model that this computes");
}

template <class V, FieldsOf<If> R>
void visit_fields(V& v, R& x) {
  v("cond", x.cond, "one bool");
  v.index("then_block", x.then_block, "block run where it is true");
  v.index("else_block", x.else_block, "block run where it is false");
}

template <class V, FieldsOf<Loop> R>
void visit_fields(V& v, R& x) {
  v("trip", x.trip, "one int64, or absent");
  v("cond", x.cond, "one bool, or absent");
  v("carried", x.carried, "values carried from turn to turn");
  v.index("body", x.body, "block run each turn");
}

template <class V, FieldsOf<Step> R>
void visit_fields(V& v, R& x) {
  v.alternative("launch", StepKind::kLaunch, x.kind, x.launch, "launches a kernel");
  v.alternative("copy", StepKind::kCopy, x.kind, x.copy, "copies a tensor");
  v.alternative("fill", StepKind::kFill, x.kind, x.fill, "sets every element");
  v.alternative("read_dims", StepKind::kReadDims, x.kind, x.read_dims,
                "takes dims from data; ends a segment");
  v.alternative("if", StepKind::kIf, x.kind, x.if_, "runs one of two blocks");
  v.alternative("loop", StepKind::kLoop, x.kind, x.loop, "runs a block again and again");
}

template <class V, FieldsOf<Block> R>
void visit_fields(V& v, R& x) {
  v("steps", x.steps, "in order");
}

template <class V, FieldsOf<Symbol> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name in the model");
  v("min", x.min, "smallest value");
  v("max", x.max, "largest value");
  v("opt", x.opt, "value the plan was made best for");
}

template <class V, FieldsOf<Assertion> R>
void visit_fields(V& v, R& x) {
  v("predicate", x.predicate, "what must hold");
  v("message", x.message, "what to say where it does not");
  v("source_nodes", x.source_nodes, "nodes of the model that need it");
}

template <class V, FieldsOf<PortHint> R>
void visit_fields(V& v, R& x) {
  v("kind", x.kind, "empty, index, unit or bool: how to generate values");
  v("low", x.low, "smallest generated value");
  v("high", x.high, "largest generated value");
}

template <class V, FieldsOf<Port> R>
void visit_fields(V& v, R& x) {
  v("name", x.name, "name in the model");
  v("dtype", x.dtype, "element type");
  v.exprs("dims", x.dims, "extents; dense row-major");
  v.index("buffer", x.buffer, "its buffer");
  v("hint", x.hint, "for generated inputs");
}

template <class V, FieldsOf<Signature> R>
void visit_fields(V& v, R& x) {
  v("inputs", x.inputs, "what the caller gives");
  v("outputs", x.outputs, "what the caller gets");
}

template <class V, FieldsOf<Program> R>
void visit_fields(V& v, R& x) {
  v("target", x.target, "cpu, sm_90 and the like");
  v("symbols", x.symbols, "dims that are known at bind");
  v.expr_table("exprs", x.exprs, "expressions, each once; records hold their index");
  v("assertions", x.assertions, "checked at bind");
  v("signature", x.signature, "inputs and outputs");
  v("buffers", x.buffers, "memory that tensors lie in");
  v("slots", x.slots, "parts of the arena");
  v("prepare", x.prepare, "run once per device at load: fills prepared buffers");
  v("run", x.run, "run for each set of inputs");
  v("blocks", x.blocks, "bodies of if and loop");
}

template <class V, FieldsOf<Plan> R>
void visit_fields(V& v, R& x) {
  v("model_name", x.model_name, "name of the model");
  v("made_by", x.made_by, "compiler and version");
  v("kernels", x.kernels, "kernels, shared by all programs");
  v("images", x.images, "device code and loop programs");
  v("blobs", x.blobs, "weight tensors, shared by all programs");
  v("programs", x.programs, "one per target");
}

}  // namespace ge
