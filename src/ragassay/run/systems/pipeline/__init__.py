"""Pipelines of real parts: embedders, dense and lexical retrieval, fusion, reranking, generation. Judges nothing."""
