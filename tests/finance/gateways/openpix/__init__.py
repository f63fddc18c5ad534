"""OpenPix's adapter, against a peer of ours that behaves as their papers say."""
