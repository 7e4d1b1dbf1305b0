ALTER TABLE `api_keys` ADD `tiers` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `tier` text;