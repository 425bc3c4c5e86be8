"""Import of KORA folders: scenarios, recorded conversations and their grades become a suite. Nothing of KORA is bundled."""
