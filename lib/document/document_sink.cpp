// document_sink
