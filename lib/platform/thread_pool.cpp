// The pool.
