// cbor_scan
