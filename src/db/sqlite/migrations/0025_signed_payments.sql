CREATE TABLE `signed_days` (
	`caller_id` text NOT NULL,
	`day` text NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`caller_id`, `day`)
);
--> statement-breakpoint
CREATE TABLE `signed_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`caller_id` text NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`payment_id` text,
	`source` text NOT NULL,
	`expires_at_ms` integer,
	`reversed` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`booked_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `signed_payments_unbooked` ON `signed_payments` (`created_at_ms`) WHERE booked_at_ms IS NULL;