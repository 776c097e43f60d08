"""Teams of language models: what they are asked, and what their replies mean."""
