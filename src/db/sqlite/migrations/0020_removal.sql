CREATE TABLE `forgotten_names` (
	`wallet_id` text NOT NULL,
	`digest` text NOT NULL,
	`pseudonym` text NOT NULL,
	`forgotten_at_ms` integer NOT NULL,
	PRIMARY KEY(`wallet_id`, `digest`)
);
--> statement-breakpoint
ALTER TABLE `runs` ADD `begun_at_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `used_day` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `spent` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `is_ending` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `runs_used_day` ON `runs` (`used_day`);--> statement-breakpoint
CREATE INDEX `api_keys_child_gone` ON `api_keys` (`expires_at_ms`) WHERE parent_id IS NOT NULL AND parent_digest IS NULL;--> statement-breakpoint
CREATE INDEX `spend_limits_deleted` ON `spend_limits` (`deleted_at_ms`) WHERE deleted_at_ms IS NOT NULL;--> statement-breakpoint
UPDATE `runs` SET `used_day` = `day`;