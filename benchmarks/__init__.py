"""Time, accuracy and memory of kpca_edu beside its peers; see README.md."""
