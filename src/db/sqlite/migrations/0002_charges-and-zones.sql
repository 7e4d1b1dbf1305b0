ALTER TABLE `holds` ADD `settle_metadata` text;--> statement-breakpoint
ALTER TABLE `spend_limits` ADD `time_zone` text;--> statement-breakpoint
ALTER TABLE `spend_limits` ADD `deleted_at_ms` integer;