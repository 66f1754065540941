"""The language server: AFL in editors. Needs the extra `lsp`."""
