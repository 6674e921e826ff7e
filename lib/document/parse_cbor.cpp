// parse_cbor
