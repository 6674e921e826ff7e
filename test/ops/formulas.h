// Scalar ops as a person writes them: in long double, or in exact integers that are cut to their dtype at the
// end. Entry: real_formula, whole_formula, rounded_to, wrapped_to. Invariant: nothing here is shared with the
// product but the names of ops and dtypes, so that both do not err alike.
#pragma once
#include "contract/scalar_op.h"
#include "numeric/dtype.h"

namespace ge::test {

__extension__ using Whole = __int128;  // holds every int64 and uint64, and their sums

long double real_formula(ScalarOp op, long double a, long double b, long double c);  // compare ops: 0 or 1
Whole whole_formula(ScalarOp op, DType dtype, Whole a, Whole b, Whole c);            // not yet wrapped

// The nearest number of a float type, ties to even; float8 saturates.
double rounded_to(DType dtype, long double value);
// The low bits of a number as one of an integer type; bool: not zero.
Whole wrapped_to(DType dtype, Whole value);
// a * b in the lowest 128 bits: two uint64 can exceed a Whole.
Whole product(Whole a, Whole b);
// A float cut to an integer of the type: toward zero, saturating; NaN is 0, and true.
Whole whole_of(DType dtype, long double value);
// The least (greatest) number of an integer type.
Whole least_of(DType dtype);
Whole greatest_of(DType dtype);

}  // namespace ge::test
