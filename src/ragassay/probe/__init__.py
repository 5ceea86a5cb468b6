"""Cross-tenant probes without a network: what is planted and asked, how a leak is recognised, what it amounts to."""
