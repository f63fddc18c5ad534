"""For whoever runs the platform: jobs, dead letters, what does not agree, what is stopped."""
