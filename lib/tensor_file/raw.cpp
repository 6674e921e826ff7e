// raw
