// How many threads.
