// parse_json
