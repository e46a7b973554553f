"""The report on any stored results: stores, records, and the folders of studies, comparisons and validations."""
